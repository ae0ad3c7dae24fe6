import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { callGeneration, chosenCall, forcedCall } from "./toolCall";

const tool = (name: string, parameters?: unknown) => ({
  type: "function",
  function: { name, ...(parameters !== undefined && { parameters }) },
});
const named = (name: string) => ({ type: "function", function: { name } });

/** The arguments of a call of a function with such parameters. */
const argumentsFor = (parameters?: unknown): unknown => JSON.parse(forcedCall([tool("f", parameters)], "required")?.arguments ?? "");

describe("the call that a request forces", () => {
  const tools = [tool("first"), tool("second")];

  it("is of the function that the request names, and ends as a text does", () => {
    expect(forcedCall(tools, named("second"))).toEqual({ name: "second", arguments: "{}", reason: "stop" });
  });

  it("is of the first tool where any is required", () => {
    expect(forcedCall(tools, "required")).toEqual({ name: "first", arguments: "{}", reason: "tool_calls" });
  });

  it.each(["auto", "none", null, undefined])("is none with the choice %o", (choice) => {
    expect(forcedCall(tools, choice)).toBeNull();
  });
});

describe("the call that a model chooses", () => {
  const tools = [
    tool("add"),
    tool("getWeather", { type: "object", properties: { at: { type: "string" } }, required: ["at"] }),
    tool("weather_map"),
  ];
  const call = { name: "getWeather", arguments: '{"at":"text"}', reason: "tool_calls" };

  it.each(["auto", null, undefined])("is of the first tool of whose name the question has a word, with the choice %o", (choice) => {
    expect(chosenCall(tools, choice, "How is the WEATHER in Paris?")).toEqual(call);
  });

  it.each([
    ["a question about none of them", "Who are you?"],
    ["a short word of a name, which is in many questions", "Can you add 2 and 2, and get it right?"],
    ["a word within another", "A weatherproof coat?"],
    ["a question of the outcomes", "[prompt p1] How is the weather?"],
    ["a chat that does not end with a question", null],
  ])("is none for %s", (_, question) => {
    expect(chosenCall(tools, "auto", question)).toBeNull();
  });

  it("is none where it is forbidden, and where no arguments can be written", () => {
    expect(chosenCall(tools, "none", "The weather?")).toBeNull();
    expect(chosenCall([tool("weather", { not: {} })], "auto", "The weather?")).toBeNull();
  });
});

describe("the arguments of a call", () => {
  it.each([
    ["text", { type: "string" }, "text"],
    ["the smallest integer", { type: "integer", minimum: 3 }, 3],
    ["a number", { type: "number" }, 0],
    ["a truth value", { type: "boolean" }, true],
    ["the first listed value", { type: "string", enum: ["up", "down"] }, "up"],
    ["the fixed value", { const: 7 }, 7],
    ["a value of the first type", { type: ["string", "null"] }, "text"],
    ["the first alternative", { anyOf: [{ type: "integer" }, { type: "null" }] }, 0],
    ["an empty list", { type: "array", items: { type: "string" } }, []],
    ["a list of one", { type: "array", items: { type: "string" }, minItems: 1 }, ["text"]],
    ["an object", { type: "object", properties: { a: { type: "null" }, b: {} }, required: ["a"] }, { a: null }],
  ])("have %s where the schema asks for it", (_, schema, value) => {
    expect(argumentsFor({ type: "object", properties: { it: schema }, required: ["it"] })).toEqual({ it: value });
  });

  it("have no property that is not required, and none without parameters", () => {
    expect(argumentsFor({ type: "object", properties: { a: { type: "string" } } })).toEqual({});
    expect(argumentsFor()).toEqual({});
  });

  it("have exactly the required properties, each of its type, however deep they lie", () => {
    const { schema } = fc.letrec((tie) => ({
      leaf: fc.constantFrom("string", "integer", "number", "boolean").map((type) => ({ type })),
      object: fc.dictionary(fc.stringMatching(/^[a-z]{1,4}$/), fc.tuple(tie("schema"), fc.boolean()), { maxKeys: 4 }).map((properties) => ({
        type: "object",
        properties: Object.fromEntries(Object.entries(properties).map(([name, [schema]]) => [name, schema])),
        required: Object.entries(properties).flatMap(([name, [, isRequired]]) => (isRequired ? [name] : [])),
      })),
      schema: fc.oneof({ maxDepth: 4 }, tie("leaf"), tie("object")),
    }));
    fc.assert(
      fc.property(schema, (wanted) => {
        expectFit(argumentsFor({ type: "object", properties: { it: wanted }, required: ["it"] }), wanted);
      }),
    );
  });
});

interface Schema {
  readonly type: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

function expectFit(values: unknown, schema: unknown): void {
  const check = (value: unknown, { type, properties = {}, required = [] }: Schema): void => {
    expect(typeof value).toBe(type === "integer" ? "number" : type);
    if (type !== "object") return;
    expect(Object.keys(value as object).sort()).toEqual([...required].sort());
    for (const name of required) check((value as Readonly<Record<string, unknown>>)[name], properties[name] as Schema);
  };
  check((values as { readonly it: unknown }).it, schema as Schema);
}

it("a call is written token by token: its name, then its arguments, over as many tokens as the answer has, at least two", () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), fc.json(), fc.integer({ min: 1, max: 300 }), (name, json, answerTokens) => {
      const answer = { prompt: "", inputTokens: 5, outputTokens: answerTokens, token: () => "word" };
      const probabilities = { probability: () => 1, promptProbability: () => 1 };
      const { outputTokens, token } = callGeneration({ ...answer, ...probabilities }, { name, arguments: json, reason: "stop" });
      expect(outputTokens).toBe(Math.max(2, answerTokens));
      const texts = Array.from({ length: outputTokens }, (_, index) => token(index));
      expect(texts[0]).toBe(name);
      expect(texts.slice(1).join("")).toBe(json);
      expect(token(outputTokens)).toBe("");
    }),
  );
});
