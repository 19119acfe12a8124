"""Validates JSON files against a schema: validate_report.py SCHEMA FILE...  Exit 1 with the faults on stdout."""
import json
import sys

import jsonschema


def refuse(constant):
    raise ValueError(f"{constant} is not JSON")


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        validator = jsonschema.Draft7Validator(json.load(file))
    validator.check_schema(validator.schema)
    faults = []
    for name in sys.argv[2:]:
        with open(name, encoding="utf-8") as file:
            report = json.load(file, parse_constant=refuse)
        for error in validator.iter_errors(report):
            faults.append(f"{name}: {'/'.join(map(str, error.path))}: {error.message}")
    print("\n".join(faults))
    return 1 if faults else 0


sys.exit(main())
