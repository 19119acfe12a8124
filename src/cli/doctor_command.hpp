// onbeat doctor: what this host allows and how exactly it can measure.
#pragma once

#include "options/settings.hpp"
#include "run/doctor.hpp"

#include <string>

namespace onbeat::cli {

/// Measures and prints: a table, or JSON with --json; --out json=FILE writes a file beside. The
/// exit code.
int doctor_command(const options::Settings& settings);

/// The table, and in one sentence what it means.
[[nodiscard]] std::string doctor_text(const run::DoctorReport& report);
[[nodiscard]] std::string doctor_json(const run::DoctorReport& report);

}  // namespace onbeat::cli
