"""Holds objects of a custom kind to the schema in its CustomResourceDefinition; unknown fields are errors.

    custom_resource.py CRD.yaml OBJECTS.yaml     exit 1: an object breaks the schema, or there is none of that kind
"""

import sys

import jsonschema
import yaml


def closed(schema):
    """The schema with every object's fields restricted to those it names, as an API server does by pruning."""
    if isinstance(schema, list):
        return [closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    schema = {key: closed(part) for key, part in schema.items()}
    if isinstance(schema.get("properties"), dict) and schema.get("type") == "object":
        schema.setdefault("additionalProperties", False)
    return schema


def main(crd_path, objects_path):
    with open(crd_path) as file:
        crd = yaml.safe_load(file)["spec"]
    with open(objects_path) as file:
        objects = [o for o in yaml.safe_load_all(file) if o and o["kind"] == crd["names"]["kind"]]
    schemas = {f'{crd["group"]}/{v["name"]}': closed(v["schema"]["openAPIV3Schema"]) for v in crd["versions"]}
    for version in schemas.values():
        version["properties"]["metadata"] = {"type": "object"}  # the API server knows it, the CRD need not
    broken = [e for o in objects for e in jsonschema.Draft202012Validator(schemas[o["apiVersion"]]).iter_errors(o)]
    for error in broken:
        print(f"{error.json_path}: {error.message}", file=sys.stderr)
    if not objects:
        print(f"no {crd['names']['kind']} in {objects_path}", file=sys.stderr)
    return 0 if objects and not broken else 1


sys.exit(main(*sys.argv[1:]))
