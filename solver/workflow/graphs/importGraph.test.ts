import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { workflowDocumentSchema } from "@/solver/plan/workflowDocument";
import { workflows } from "../templates";
import { documentOfWorkflow } from "../workflowDocuments";
import { readWorkflowText } from "./importGraph";

/** The result of reading a JSON value; throws the sentence where it is not readable. */
function read(json: unknown) {
  const reading = readWorkflowText(JSON.stringify(json));
  if (!reading.ok) throw new Error(reading.message);
  return reading;
}
const refused = (json: unknown): string => {
  const reading = readWorkflowText(typeof json === "string" ? json : JSON.stringify(json));
  return reading.ok ? "It was read." : reading.message;
};
const readsOf = (json: unknown): Record<string, readonly string[]> =>
  Object.fromEntries(read(json).document.agents.map(({ name, reads }) => [name, reads]));

describe("Weir's own document", () => {
  test("is read as it was written, for every workflow of the sources", () => {
    for (const workflow of workflows) {
      const document = workflowDocumentSchema.parse(documentOfWorkflow(workflow));
      expect(read(document)).toEqual({ ok: true, document, origin: "weir", notes: [] });
    }
  });

  test("is refused by the field that is wrong", () => {
    const agents = [{ name: "a" }, { name: "b", reads: ["c"] }];
    expect(refused({ name: "x", agents })).toBe("agents[1].reads: b reads c, which is not declared before it.");
    expect(refused({ name: "two words", agents: [{ name: "a" }] })).toMatch(/^name: is one word/);
    expect(refused({ name: "x", agents: [{ name: "a" }, { name: "a" }] })).toBe("agents[1].name: a is declared twice.");
    expect(refused({ name: "x", agents: [{ name: "a", part: "sings" }] })).toMatch(/^agents\[0\]\.part: /);
  });
});

/** In the format of `graph.get_graph().to_json()` for nodes that run something. */
const node = (id: string | number, name = String(id)) => ({
  id,
  type: "runnable",
  data: { id: ["langgraph", "utils", "runnable", "RunnableCallable"], name },
});
const start = { id: "__start__", type: "schema", data: "__start__" };
const end = { id: "__end__", type: "schema", data: "__end__" };
const edge = (source: string | number, target: string | number) => ({ source, target });

describe("a graph of LangGraph", () => {
  test("becomes agents that read those with an edge to them, without its start and end", () => {
    const graph = {
      nodes: [start, node("Web Researcher"), node("join"), node("planner"), node("writer"), end],
      edges: [
        edge("__start__", "planner"),
        edge("planner", "Web Researcher"),
        edge("planner", "writer"),
        edge("Web Researcher", "join"),
        edge("writer", "join"),
        edge("join", "__end__"),
      ],
    };
    expect(readsOf(graph)).toEqual({
      planner: [],
      "Web-Researcher": ["planner"],
      writer: ["planner"],
      join: ["Web-Researcher", "writer"],
    });
    const { origin, document, notes } = read(graph);
    expect([origin, document.name]).toEqual(["langgraph", "imported"]);
    expect(notes).toContain('"Web Researcher" is called Web-Researcher here.');
    expect(notes.join(" ")).toContain("it is called imported until you name it");
    // Each agent comes after those that it reads, though the graph lists them otherwise.
    expect(() => workflowDocumentSchema.parse(document)).not.toThrow();
  });

  test("keeps its name, made a word with a note where it is none", () => {
    const named = (name: string) => read({ name, nodes: [node("planner")], edges: [] });
    expect([named("my-graph").document.name, named("my-graph").notes.length]).toEqual(["my-graph", 1]);
    expect([named("my graph").document.name, named("my graph").notes[0]]).toEqual(["my-graph", '"my graph" is called my-graph here.']);
    expect([named("计划").document.name, named("计划").notes[0]]).toEqual(["imported", '"计划" is called imported here.']);
  });

  test("has a conditional edge taken as always followed, and says so once", () => {
    const choice = { source: "router", target: "maths", data: "sum", conditional: true };
    const { notes, document } = read({
      nodes: [start, node("router"), node("maths"), end],
      edges: [edge("__start__", "router"), choice, { ...choice, data: "product" }, edge("maths", "__end__")],
    });
    expect(document.agents.map(({ reads }) => reads)).toEqual([[], ["router"]]);
    expect(notes.filter((note) => note.includes("conditional edge from router to maths"))).toHaveLength(1);
  });

  test("of numbered nodes, as chains are drawn, takes names from what they run and leaves schemas out", () => {
    const chain = {
      nodes: [
        { id: 0, type: "schema", data: "PromptInput" },
        node(1, "ChatPromptTemplate"),
        node(2, "ChatOpenAI"),
        { id: 3, type: "schema", data: "ChatOpenAIOutput" },
      ],
      edges: [edge(0, 1), edge(1, 2), edge(2, 3)],
    };
    expect(readsOf(chain)).toEqual({ ChatPromptTemplate: [], ChatOpenAI: ["ChatPromptTemplate"] });
  });

  test.each([
    ["a loop", { nodes: [node("agent"), node("tools")], edges: [edge("agent", "tools"), edge("tools", "agent")] }, "circle through"],
    ["an agent that follows itself", { nodes: [node("agent")], edges: [edge("agent", "agent")] }, "agent reads its own answer"],
    ["an edge to nowhere", { nodes: [node("a")], edges: [edge("a", "b")] }, "edges[0]: there is no node b."],
    ["a node that is there twice", { nodes: [node("a"), node("a")], edges: [] }, "nodes[1]: a is there twice."],
    ["names that become one", { nodes: [node("a b"), node("a-b")], edges: [] }, "Two agents would be called a-b"],
    ["a node without an id", { nodes: [{ type: "runnable" }], edges: [] }, "nodes[0]: an id was expected."],
    ["an edge without an end", { nodes: [node("a")], edges: [{ source: "a" }] }, "edges[0]: a source and a target were expected."],
    ["nodes by name", { nodes: { a: {} }, edges: [] }, "nodes: a list was expected"],
    ["nothing but marks", { nodes: [start, end], edges: [edge("__start__", "__end__")] }, "The graph has no agents."],
    ["too many agents", { nodes: Array.from({ length: 17 }, (_, at) => node(`a${at}`)), edges: [] }, "17 agents, more than 16"],
    ["far too many nodes", { nodes: Array.from({ length: 1001 }, (_, at) => node(`a${at}`)), edges: [] }, "more than 1000"],
  ])("is refused for %s", (_, graph, message) => {
    expect(refused(graph)).toContain(message);
  });
});

/** DSPy's description of a field without one. */
const its = (name: string): string => `\${${name}}`;

/** A predictor's state in DSPy's format: prefixes and descriptions, inputs before outputs. */
const predictor = (instructions: string, fields: readonly (readonly [prefix: string, description: string])[], lm: unknown = null) => ({
  ...{ traces: [], train: [], demos: [], lm },
  signature: { instructions, fields: fields.map(([prefix, description]) => ({ prefix, description })) },
});
const thoughts = ["Reasoning: Let's think step by step in order to", its("reasoning")] as const;
const versions = { dependency_versions: { python: "3.11", dspy: "2.6.13", cloudpickle: "3.1" } };

describe("a program of DSPy", () => {
  // If a text were matched again from each of its positions, these together would exceed the test's time limit.
  test("is read or refused at once, however long its instructions and names", { timeout: 4000 }, () => {
    const endless = `Given the fields ${"a, produce the fields ".repeat(22_000)}`;
    expect(refused({ writer: predictor(endless, [["Answer:", its("answer")]]) })).toMatch(/^agents\[0\]\.instructions: /);
    const named = { [`writer${".predict".repeat(60_000)}x`]: predictor("Write.", [["Answer:", its("answer")]]) };
    expect(read(named).document.agents[0]?.name).toMatch(/^writer\.predict/);
  });

  test("has edges where a predictor's input is named as another's output", () => {
    const program = {
      "draft.predict": predictor("Answer it.", [["Question:", its("question")], thoughts, ["Answer:", its("answer")]], {
        model: "openai/gpt-4o-mini",
        max_tokens: 300,
      }),
      "critic.predict": predictor("Given the fields `question`, `answer`, produce the fields `critique`.", [
        ["Question:", its("question")],
        ["Answer:", "what was answered"],
        ["Critique:", its("critique")],
      ]),
      refine: predictor("Write it anew.", [
        ["Question:", its("question")],
        ["Answer:", its("answer")],
        ["Critique:", its("critique")],
        ["Final Answer:", its("final_answer")],
      ]),
      metadata: versions,
    };
    const { document, origin, notes } = read(program);
    expect(origin).toBe("dspy");
    expect(document.agents).toMatchObject([
      { name: "draft", reads: [], instructions: "Answer it.", maxTokens: 300 },
      { name: "critic", reads: ["draft"] },
      { name: "refine", reads: ["draft", "critic"], instructions: "Write it anew." },
    ]);
    expect(notes).toContain("Models that it names are left out, and any may run each agent: openai/gpt-4o-mini.");
    expect(notes.join(" ")).toContain("follows from fields");
  });

  test("without such fields is a chain in the order of declaration, and says so", () => {
    const hop = predictor("", [
      ["Context:", its("context")],
      ["Question:", its("question")],
      ["Query:", its("query")],
    ]);
    const answer = predictor("", [
      ["Context:", its("context")],
      ["Question:", its("question")],
      ["Answer:", its("answer")],
    ]);
    const program = { "generate_query[0]": hop, "generate_query[1]": hop, generate_answer: answer };
    expect(readsOf(program)).toEqual({
      "generate_query-0": [],
      "generate_query-1": ["generate_query-0"],
      generate_answer: ["generate_query-1"],
    });
    expect(read(program).notes.join(" ")).toContain("the one declared before it");
  });

  test("in a verbose state of an earlier version has its fields told apart by their types", () => {
    const verbose = (inputs: readonly string[], outputs: readonly string[]) => ({
      ...{ lm: null, traces: [], train: [], demos: [], signature_instructions: "Do it.", signature_prefix: "Out:" },
      fields: [
        ...inputs.map((name) => ({ name, field_type: "input", description: "", prefix: `${name}:` })),
        ...outputs.map((name) => ({ name, field_type: "output", description: "", prefix: `${name}:` })),
      ],
    });
    const program = {
      one: verbose(["question"], ["keywords", "columns"]),
      two: verbose(["question"], ["sketch"]),
      three: verbose(["keywords", "sketch"], ["sql"]),
    };
    expect(readsOf(program)).toEqual({ one: [], two: [], three: ["one", "two"] });
  });

  test("of a single predictor is a workflow of one agent", () => {
    expect(
      readsOf({
        ...predictor("Answer.", [
          ["Question:", its("question")],
          ["Answer:", its("answer")],
        ]),
        metadata: versions,
      }),
    ).toEqual({
      program: [],
    });
  });

  test("of predictors that feed each other is refused", () => {
    const one = predictor("", [
      ["Draft:", its("draft")],
      ["Review:", its("review")],
    ]);
    const other = predictor("", [
      ["Review:", its("review")],
      ["Draft:", its("draft")],
    ]);
    expect(refused({ one, other })).toContain("circle through");
  });

  test("with a module that is no predictor says that it is left out", () => {
    const { notes } = read({
      answer: predictor("A.", [
        ["Q:", its("q")],
        ["A:", its("a")],
      ]),
      retrieve: { k: 3 },
    });
    expect(notes).toContain("Left out, as it is no predictor: retrieve.");
  });
});

test("what is no workflow is refused in one sentence", () => {
  expect(refused("hello")).toMatch(/^This is not JSON: /);
  expect(refused("[1]")).toContain("A JSON object was expected");
  expect(refused({ hello: "world" })).toContain("Neither agents (Weir)");
  expect(refused(`"${"x".repeat(500_001)}"`)).toBe("The text has more than 500,000 characters.");
});

test("whatever text comes, a document that the schema takes or one sentence comes back", () => {
  const ids = fc.constantFrom("a", "b", "c d", "__start__", "__end__", "", 0, 1);
  const nodes = fc.array(
    fc.oneof(fc.jsonValue(), fc.record({ id: ids, type: fc.constantFrom("runnable", "schema"), data: fc.jsonValue() })),
  );
  const edges = fc.array(fc.oneof(fc.jsonValue(), fc.record({ source: ids, target: ids, conditional: fc.boolean() })));
  const states = fc.dictionary(
    fc.string(),
    fc.oneof(
      fc.jsonValue(),
      fc.record({ signature: fc.record({ instructions: fc.string(), fields: fc.array(fc.jsonValue()) }), lm: fc.jsonValue() }),
    ),
  );
  fc.assert(
    fc.property(fc.oneof(fc.record({ nodes, edges }), states, fc.jsonValue(), fc.record({ agents: fc.jsonValue() })), (json) => {
      const reading = readWorkflowText(JSON.stringify(json));
      if (reading.ok) expect(workflowDocumentSchema.parse(reading.document)).toEqual(reading.document);
      else expect(reading.message).toMatch(/\.$/);
    }),
    { numRuns: 1000 },
  );
});
