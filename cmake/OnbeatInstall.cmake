# Nothing yet but the kernel is for other programs: headers, library, find_package(onbeat), pkg-config.
