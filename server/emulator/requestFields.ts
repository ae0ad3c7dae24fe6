import { isRecord } from "@/solver/collections/isRecord";
import type { FieldIssue } from "./pydanticError";

type FieldKind = "integer" | "number" | "boolean" | "string" | "list" | "object";

/** Fault of a value of each kind: pydantic's name and sentence; null: none. A text that spells the value is taken for it. */
const faults: Readonly<Record<FieldKind, (value: unknown) => readonly [type: string, msg: string] | null>> = {
  integer(value) {
    if (typeof value === "string")
      return /^\s*[+-]?\d+\s*$/.test(value)
        ? null
        : ["int_parsing", "Input should be a valid integer, unable to parse string as an integer"];
    if (typeof value !== "number") return ["int_type", "Input should be a valid integer"];
    return Number.isInteger(value) ? null : ["int_from_float", "Input should be a valid integer, got a number with a fractional part"];
  },
  number(value) {
    if (typeof value === "string")
      return value.trim() !== "" && Number.isFinite(Number(value))
        ? null
        : ["float_parsing", "Input should be a valid number, unable to parse string as a number"];
    return typeof value === "number" ? null : ["float_type", "Input should be a valid number"];
  },
  boolean(value) {
    if (typeof value === "boolean" || value === 0 || value === 1) return null;
    if (typeof value === "string" && /^(true|false|on|off|yes|no|[01tfyn])$/i.test(value)) return null;
    return typeof value === "string" || typeof value === "number"
      ? ["bool_parsing", "Input should be a valid boolean, unable to interpret input"]
      : ["bool_type", "Input should be a valid boolean"];
  },
  string: (value) => (typeof value === "string" ? null : ["string_type", "Input should be a valid string"]),
  list: (value) => (Array.isArray(value) ? null : ["list_type", "Input should be a valid list"]),
  object: (value) =>
    isRecord(value) ? null : ["model_attributes_type", "Input should be a valid dictionary or object to extract fields from"],
};

/** The faults of the fields of a body, which may all be left out or null. */
export function fieldFaults(body: Readonly<Record<string, unknown>>, fields: Readonly<Record<string, FieldKind>>): FieldIssue[] {
  return Object.entries(fields).flatMap(([name, kind]) => {
    const input = body[name];
    const fault = input === undefined || input === null ? null : faults[kind](input);
    return fault === null ? [] : [{ type: fault[0], loc: ["body", name], msg: fault[1], input }];
  });
}

/** The value of a field that `fieldFaults` found to be of its kind; `fallback` if it is left out or null. */
export const integer = <Fallback>(value: unknown, fallback: Fallback): number | Fallback =>
  value === undefined || value === null ? fallback : Number(value);
export const truthy = (value: unknown): boolean =>
  typeof value === "string" ? /^(true|on|yes|[1ty])$/i.test(value) : value === true || value === 1;
