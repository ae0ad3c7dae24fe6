import { describe, expect, it } from "vitest";
import { connectionSchema } from "./processConnection";

const least = { kind: "processes", models: { "llama-3.1-8b": { source: "meta-llama/Llama-3.1-8B-Instruct" } } };
const faults = (change: object): readonly string[] => {
  const parsed = connectionSchema.safeParse({ ...least, ...change });
  return parsed.success ? [] : parsed.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`);
};

describe("the connection of local processes", () => {
  it("needs no more than what to load for each model", () => {
    const environment = {};
    expect(connectionSchema.parse(least)).toEqual({
      ...least,
      ...{ engine: "vllm", templates: {}, environment, ports: { from: 8100, to: 8199 }, adopt: [], beside: [], judge: null, dcgmUrls: [] },
    });
  });

  it.each([
    [
      "a flag with a key",
      { models: { m: { source: "s", args: ["--hf-token", "x"] } } },
      /^models\.m\.args\.0: This looks like a key: put it/,
    ],
    ["a key as an argument", { templates: { t: ["serve", "{port}", "sk-0123456789"] } }, /^templates\.t\.2: This looks like a key/],
    ["a key as a variable's value", { environment: { HF_TOKEN: { value: "abc" } } }, /^environment\.HF_TOKEN: This looks like a key/],
    [
      "the studio's own secrets for engines",
      { environment: { T: { fromEnv: "WEIR_ADMIN_TOKEN" } } },
      /^environment\.T\.fromEnv: .*the studio's own variable/,
    ],
    ["a template that no model can use", { engine: "tgi" }, /^engine: There is no template "tgi"\.$/],
    [
      "a model's template that is not there",
      { models: { m: { source: "s", engine: "x" } } },
      /^models\.m\.engine: There is no template "x"\.$/,
    ],
    ["a template with a fault", { templates: { t: ["serve"] } }, /^templates\.t: \{port\} is missing/],
    ["ports from high to low", { ports: { from: 9000, to: 8000 } }, /^ports: The range ends before it begins\.$/],
    [
      "GPUs that do not divide",
      { adopt: [{ url: "http://h:1", precision: "bf16", gpus: [0, 1, 2], pp: 2 }] },
      /^adopt\.0\.pp: 3 GPUs cannot/,
    ],
    [
      "a CA for a server that is asked in the clear",
      { adopt: [{ url: "http://h:1", precision: "bf16", gpus: [0], caFile: "ca.pem" }] },
      /^adopt\.0\.caFile: http:\/\/h:1 is no https address/,
    ],
    [
      "a variable that the engines do not have, for a program beside them",
      { beside: [{ name: "judge", command: ["judge"], variables: ["HF_TOKEN"] }] },
      /^beside\.0\.variables: There is no variable "HF_TOKEN" in environment/,
    ],
    ["a name that means nothing here", { image: "vllm/vllm-openai" }, /image/],
  ])("refuses %s in a sentence that says where", (_, change, words) => {
    expect(faults(change)[0]).toMatch(words);
  });

  it("takes an operator's template in a built-in one's place", () => {
    expect(faults({ templates: { vllm: ["/opt/vllm/bin/vllm", "serve", "{source}", "--port", "{port}"] } })).toEqual([]);
  });
});
