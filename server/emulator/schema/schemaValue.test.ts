import { Ajv2020 as Ajv } from "ajv/dist/2020.js";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { UnmetSchema } from "./patternText";
import { schemaValue } from "./schemaValue";

const ajv = new Ajv({ strict: false, validateFormats: false });
const expectFit = (schema: object, value: unknown): void => {
  expect([ajv.validate(schema, value), ajv.errorsText()]).toEqual([true, "No errors"]);
};

describe("the value of a schema", () => {
  it.each<readonly [string, object, unknown]>([
    ["text", { type: "string" }, "text"],
    ["text as long as wanted", { type: "string", minLength: 6, maxLength: 6 }, "textte"],
    ["a moment", { type: "string", format: "date-time" }, "2026-01-01T00:00:00Z"],
    ["text of a pattern", { type: "string", pattern: "^[A-Z]{2}-\\d+$", minLength: 6 }, "AA-000"],
    ["the number nearest to 0", { type: "integer", minimum: 3 }, 3],
    ["a multiple", { type: "integer", exclusiveMinimum: 10, multipleOf: 5 }, 15],
    ["a number below 0", { type: "number", exclusiveMaximum: -1 }, -2],
    ["a number between bounds", { type: "number", exclusiveMinimum: 0, exclusiveMaximum: 1 }, 0.5],
    ["the first listed value", { enum: ["up", "down"] }, "up"],
    ["the first alternative", { anyOf: [{ type: "integer" }, { type: "null" }] }, 0],
    ["all parts", { allOf: [{ type: "integer" }, { minimum: 4 }] }, 4],
    ["a pair", { type: "array", prefixItems: [{ const: 1 }, { const: 2 }], minItems: 2 }, [1, 2]],
    ["different numbers", { type: "array", items: { type: "integer" }, minItems: 3, uniqueItems: true }, [0, 1, 2]],
    ["different texts", { type: "array", items: { type: "string" }, minItems: 2, uniqueItems: true }, ["text", "text2"]],
    ["a property that is not described", { type: "object", required: ["a"], additionalProperties: { type: "integer" } }, { a: 0 }],
    [
      "what a reference names",
      { type: "object", properties: { at: { $ref: "#/$defs/place" } }, required: ["at"], $defs: { place: { type: "boolean" } } },
      { at: true },
    ],
  ])("is %s", (_, schema, value) => {
    expect(schemaValue(schema)).toEqual(value);
    expectFit(schema, value);
  });

  it("has the given text where a text is free, once", () => {
    const properties = { id: { type: "string", format: "uuid" }, title: { type: "string" }, body: { type: "string" } };
    const value = schemaValue({ type: "object", properties, required: ["id", "title", "body"] }, "the answer");
    expect(value).toEqual({ id: "00000000-0000-4000-8000-000000000000", title: "the answer", body: "text" });
  });

  it("ends where a schema refers to itself", () => {
    const node = { type: "object", properties: { next: { anyOf: [{ $ref: "#/$defs/node" }, { type: "null" }] } }, required: ["next"] };
    const schema = { $ref: "#/$defs/node", $defs: { node } };
    expectFit(schema, schemaValue(schema));
  });

  it.each<readonly [string, unknown, RegExp]>([
    ["has a keyword that is not read", { not: {} }, /"not"/],
    ["refers to itself without end", { $ref: "#" }, /without end/],
    [
      "is satisfied by endless values only",
      { type: "object", properties: { a: { $ref: "#" }, b: { $ref: "#" } }, required: ["a", "b"] },
      /without end/,
    ],
    ["refers to what it does not have", { $ref: "#/$defs/none" }, /#\/\$defs\/none/],
    ["allows nothing", { type: "object", properties: { a: false }, required: ["a"] }, /no value/],
    ["has bounds without a number between them", { type: "integer", exclusiveMinimum: 1, exclusiveMaximum: 2 }, /no number/],
    ["asks for a long list", { type: "array", minItems: 1e9 }, /more than/],
    ["asks for a long text", { type: "string", minLength: 1e9 }, /more than/],
    ["has a pattern that is not read", { type: "string", pattern: "^(?!a)b$" }, /pattern/],
    ["has a form that does not have the wanted length", { type: "string", format: "date", maxLength: 3 }, /form and length/],
  ])("is refused in a sentence where the schema %s", (_, schema, sentence) => {
    expect(() => schemaValue(schema)).toThrow(UnmetSchema);
    expect(() => schemaValue(schema)).toThrow(sentence);
  });

  it("satisfies any schema of the common keywords, and is the same each time", () => {
    const bounded = fc.tuple(fc.integer({ min: -50, max: 50 }), fc.integer({ min: 0, max: 20 }));
    const { schema } = fc.letrec<{ schema: object; leaf: object; list: object; object: object }>((tie) => ({
      leaf: fc.oneof(
        fc.constantFrom({ type: "string" }, { type: "boolean" }, { type: "null" }, { type: ["number", "null"] }, { const: { a: 1 } }),
        bounded.map(([minimum, width]) => ({ type: "integer", minimum, maximum: minimum + width })),
        bounded.map(([minimum, width]) => ({ type: "number", exclusiveMinimum: minimum, exclusiveMaximum: minimum + width + 1 })),
        fc.tuple(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 0, max: 9 })).map(([minLength, more]) => ({
          ...{ type: "string", minLength, maxLength: minLength + more },
        })),
        fc.array(fc.oneof(fc.string(), fc.integer()), { minLength: 1, maxLength: 3 }).map((values) => ({ enum: values })),
        fc
          .constantFrom("^[a-f0-9]{8}$", "^(red|green)$", "\\+\\d{2} ?\\d+", "^[^\\s@]+@[^\\s@]+\\.com$", "^a*b?c{2,3}$")
          .map((pattern) => ({
            ...{ type: "string", pattern },
          })),
      ),
      list: fc.tuple(tie("schema"), fc.integer({ min: 0, max: 3 })).map(([items, minItems]) => ({ type: "array", items, minItems })),
      object: fc.dictionary(fc.stringMatching(/^[a-z]{1,4}$/), fc.tuple(tie("schema"), fc.boolean()), { maxKeys: 4 }).map((properties) => ({
        type: "object",
        properties: Object.fromEntries(Object.entries(properties).map(([name, [own]]) => [name, own])),
        required: Object.entries(properties).flatMap(([name, [, isRequired]]) => (isRequired ? [name] : [])),
        additionalProperties: false,
      })),
      schema: fc.oneof(
        { maxDepth: 4 },
        tie("leaf"),
        tie("list"),
        tie("object"),
        fc.array(tie("schema"), { minLength: 1, maxLength: 3 }).map((anyOf) => ({ anyOf })),
        tie("object").map((own) => ({ allOf: [own] })),
      ),
    }));
    fc.assert(
      fc.property(schema, (wanted) => {
        const value = schemaValue(wanted);
        expectFit(wanted, value);
        expect(schemaValue(wanted)).toEqual(value);
      }),
    );
  });
});
