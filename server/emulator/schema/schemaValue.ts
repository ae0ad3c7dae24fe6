import { isRecord } from "@/solver/collections/isRecord";
import { UnmetSchema } from "./patternText";
import { numberIn, textIn } from "./schemaScalars";

type Schema = Readonly<Record<string, unknown>>;

/** Deeper than this an alternative without further values is taken, so that schemas which refer to themselves end. */
const DEEP = 6;
/** Levels of one document: deeper ones are not written. */
const DEEPEST = 100;
/** Values of one document: more are not written. */
const MOST_VALUES = 10_000;

/** Keywords whose meaning is not read. A value that ignores them may not satisfy the schema. */
const UNREAD = ["not", "if", "contains", "minContains", "dependentRequired", "dependentSchemas", "minProperties", "propertyNames"];

/**
 * A value that satisfies a JSON schema: the fixed or the first listed value, the first alternative, else the plainest value of the type, of
 * an object the required properties. The same for the same schema.
 * @param text the value of the first text whose schema leaves it free; further ones are "text".
 * @throws UnmetSchema if the schema has keywords that are not read, or no plain value satisfies it.
 */
export function schemaValue(schema: unknown, text = "text"): unknown {
  return new Writer(schema, text).write(schema, 0);
}

class Writer {
  readonly #root: unknown;
  #text: string;
  #values = 0;

  constructor(root: unknown, text: string) {
    this.#root = root;
    this.#text = text;
  }

  write(given: unknown, depth: number): unknown {
    this.#values += 1;
    if (depth > DEEPEST) throw new UnmetSchema("The schema refers to itself without end.");
    if (this.#values > MOST_VALUES) throw new UnmetSchema(`The schema asks for more than ${MOST_VALUES} values.`);
    if (given === false) throw new UnmetSchema("The schema allows no value.");
    const schema = isRecord(given) ? this.#merged(given, depth) : {};
    const unread = UNREAD.find((keyword) => keyword in schema);
    if (unread !== undefined) throw new UnmetSchema(`Emulated engines do not read the keyword "${unread}" of a JSON schema.`);
    if ("const" in schema) return schema.const;
    if (Array.isArray(schema.enum) && schema.enum.length > 0) return schema.enum[0];
    return this.#ofType(schema, depth);
  }

  #ofType(schema: Schema, depth: number): unknown {
    switch (typeOf(schema, depth)) {
      case "string": {
        const text = textIn(schema, this.#text);
        if (text === this.#text) this.#text = "text";
        return text;
      }
      case "integer":
      case "number":
        return numberIn(schema, { isWhole: typeOf(schema, depth) === "integer" });
      case "boolean":
        return true;
      case "array":
        return this.#list(schema, depth);
      case "null":
        return null;
      default:
        return this.#object(schema, depth);
    }
  }

  #list({ items, prefixItems, minItems, uniqueItems }: Schema, depth: number): unknown[] {
    const first = Array.isArray(prefixItems) ? prefixItems : [];
    const count = Math.max(typeof minItems === "number" ? minItems : 0, 0);
    if (count > MOST_VALUES) throw new UnmetSchema(`The schema asks for more than ${MOST_VALUES} values.`);
    const values: unknown[] = [];
    for (let at = 0; at < count; at += 1) values.push(this.write(at < first.length ? first[at] : (items ?? true), depth + 1));
    return uniqueItems === true ? distinct(values, items) : values;
  }

  #object({ properties, required, additionalProperties }: Schema, depth: number): object {
    const names = Array.isArray(required) ? required.filter((name) => typeof name === "string") : [];
    const schemas = isRecord(properties) ? properties : {};
    const schemaOf = (name: string): unknown => (Object.hasOwn(schemas, name) ? schemas[name] : (additionalProperties ?? true));
    return Object.fromEntries(names.map((name) => [name, this.write(schemaOf(name), depth + 1)]));
  }

  /** A schema with what it refers to, all of its parts and one of its alternatives. */
  #merged(schema: Schema, depth: number, references = 0): Schema {
    const { $ref, allOf, anyOf, oneOf, ...own } = schema;
    if (references > DEEP) throw new UnmetSchema("The schema refers to itself without end.");
    const parts: unknown[] = [...(typeof $ref === "string" ? [this.#at($ref)] : []), ...(Array.isArray(allOf) ? allOf : [])];
    for (const list of [anyOf, oneOf]) {
      if (!Array.isArray(list) || list.length === 0) continue;
      parts.push((depth > DEEP ? list.find((one) => isRecord(one) && isPlain(one)) : undefined) ?? list[0]);
    }
    return parts.reduce<Schema>((whole, part) => {
      if (part === false) throw new UnmetSchema("The schema allows no value.");
      return isRecord(part) ? joined(this.#merged(part, depth, references + 1), whole) : whole;
    }, own);
  }

  /** The schema that a reference within the document names. */
  #at(reference: string): unknown {
    if (!reference.startsWith("#")) throw new UnmetSchema(`The schema refers to another document, ${reference}.`);
    let found: unknown = this.#root;
    for (const part of reference.split("/").slice(1)) {
      const name = decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
      found = isRecord(found) || Array.isArray(found) ? (found as Schema)[name] : undefined;
    }
    if (found === undefined) throw new UnmetSchema(`The schema refers to ${reference}, which it does not have.`);
    return found;
  }
}

/** Two schemas that both hold: properties and required names of both; of other keywords `over`'s. */
function joined(under: Schema, over: Schema): Schema {
  const both = { ...under, ...over };
  const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
  const recordOf = (value: unknown): Schema => (isRecord(value) ? value : {});
  if (under.properties !== undefined && over.properties !== undefined)
    return { ...both, properties: { ...recordOf(under.properties), ...recordOf(over.properties) }, ...requiredOf() };
  return { ...both, ...requiredOf() };

  function requiredOf(): Schema {
    const names = new Set([...listOf(under.required), ...listOf(over.required)]);
    return names.size === 0 ? {} : { required: [...names] };
  }
}

const SCALARS: readonly unknown[] = ["string", "integer", "number", "boolean", "null"];
const isPlain = (schema: Schema): boolean => "const" in schema || Array.isArray(schema.enum) || SCALARS.includes(schema.type);

/** The type of the value to write: the first that the schema names, or one that its other keywords speak of. */
function typeOf({ type, ...schema }: Schema, depth: number): unknown {
  if (Array.isArray(type)) return (depth > DEEP ? type.find((one) => SCALARS.includes(one)) : undefined) ?? type[0];
  if (type !== undefined) return type;
  if ("items" in schema || "prefixItems" in schema || "minItems" in schema) return "array";
  if ("pattern" in schema || "format" in schema || "minLength" in schema) return "string";
  if ("minimum" in schema || "maximum" in schema || "multipleOf" in schema) return "number";
  return "object";
}

/** Makes the values of a list differ from each other. */
function distinct(values: readonly unknown[], items: unknown): unknown[] {
  const schema: Schema = isRecord(items) ? items : {};
  if (Array.isArray(schema.enum) && schema.enum.length >= values.length) return schema.enum.slice(0, values.length);
  if (new Set(values.map((value) => JSON.stringify(value))).size === values.length) return [...values];
  if (values.every((value) => typeof value === "number") && schema.maximum === undefined && schema.multipleOf === undefined)
    return values.map((value, at) => (value as number) + at);
  if (values.every((value) => typeof value === "string") && ["pattern", "format", "maxLength"].every((keyword) => !(keyword in schema)))
    return values.map((value, at) => `${value}${at === 0 ? "" : at + 1}`);
  throw new UnmetSchema("Emulated engines do not write distinct values of such a list.");
}
