import { describe, expect, it } from "vitest";
import { type CommandValues, commandLine, commandTemplates, engineKinds, templateFault } from "./commandLine";

const values: CommandValues = {
  source: "meta-llama/Llama-3.1-8B-Instruct",
  servedName: "llama-3.1-8b",
  host: "127.0.0.1",
  port: 8101,
  tp: 2,
  pp: 1,
  gpus: [2, 3],
  precision: "bf16",
  sequences: 64,
  args: ["--max-model-len", "8192"],
};

describe("command line", () => {
  it("starts vLLM under the card's name, in the plan's shape, precision and number of requests at once, with the model's own flags last", () => {
    expect(commandLine(commandTemplates.vllm, values).join(" ")).toBe(
      "vllm serve meta-llama/Llama-3.1-8B-Instruct --served-model-name llama-3.1-8b --host 127.0.0.1 --port 8101 " +
        "--tensor-parallel-size 2 --pipeline-parallel-size 1 --max-num-seqs 64 --dtype bfloat16 --max-model-len 8192",
    );
  });

  it("has SGLang and llama.cpp tell their metrics", () => {
    expect(commandLine(commandTemplates.sglang, values)).toEqual(expect.arrayContaining(["--enable-metrics", "--tp-size", "--dtype"]));
    expect(commandLine(commandTemplates["llama.cpp"], values).join(" ")).toContain("--metrics --n-gpu-layers 999 --split-mode row");
    expect(commandLine(commandTemplates["llama.cpp"], { ...values, tp: 1, pp: 2 }).join(" ")).toContain("--split-mode layer");
  });

  it.each(engineKinds)("says nothing of the format of quantised weights to %s", (kind) => {
    for (const precision of ["fp8", "int4"] as const) {
      expect(commandLine(commandTemplates[kind], { ...values, precision }).join(" ")).not.toMatch(/dtype|quantization/);
    }
  });

  it("takes values as they are: a space, a quote, a brace or a dollar never becomes more than one argument", () => {
    const source = "/models/my {port} $(id) $& 'weights'";
    expect(commandLine(["serve", "--model={source}", "--on={gpus}", "{port}"], { ...values, source })).toEqual([
      "serve",
      `--model=${source}`,
      "--on=2,3",
      "8101",
    ]);
  });

  it("says what is wrong with an operator's template", () => {
    expect(templateFault(["serve", "{modle}", "{port}"])).toMatch(/^\{modle\} is not one of \{precisionFlags\}, .*\{port\}/);
    expect(templateFault(["serve", "--port={port}", "--more={args}"])).toBe(
      "{args} stands for several arguments and must be a separate argument.",
    );
    expect(templateFault(["serve", "{source}"])).toMatch(/^\{port\} is missing/);
    expect(templateFault([])).toMatch(/needs a program/);
    expect(() => commandLine(["serve"], values)).toThrow(RangeError);
  });
});
