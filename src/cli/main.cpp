#include "cli/dispatch.hpp"

int main(int argc, char** argv) { return onbeat::cli::dispatch({argv + 1, argv + argc}); }
