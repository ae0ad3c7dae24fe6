import { readFileSync } from "node:fs";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { messagesOf, tellingLines } from "./logLines";
import { recordedLog, recordedStart } from "./testing/testEngines";

const withoutWeights = (): readonly string[] =>
  readFileSync(recordedLog("vllm-no-weights"), "utf8")
    .split("\n")
    .filter((line) => line.trim() !== "");

describe("the lines of a log that say why vLLM did not start", () => {
  it("are the refused flag where a flag is wrong", () => {
    expect(tellingLines(recordedStart("unknown flag").log)).toEqual(["vllm: error: unrecognized arguments: --no-such-flag"]);
  });

  it("are the exception where there is no such model", () => {
    expect(tellingLines(recordedStart("model not found").log)).toEqual([
      "huggingface_hub.errors.HFValidationError: Repo id must be in the form 'repo_name' or 'namespace/repo_name': '/models/none'. Use `repo_type` argument if needed.",
    ]);
  });

  it("are the system's refusal where another program has the port", () => {
    expect(tellingLines(recordedStart("port taken").log)).toEqual(["OSError: [Errno 98] Address already in use"]);
  });

  it.each(["no room for one request", "more memory than there is"])(
    "begin with the engine core's own exception where there is %s",
    (name) => {
      expect(tellingLines(recordedStart(name).log)[0]).toMatch(/^ValueError: /);
    },
  );

  it("begin with the worker's own exception where weights are missing, which its other processes only report", () => {
    expect(tellingLines(withoutWeights())).toEqual([
      "RuntimeError: Cannot find any model weights with `/models/arith-small`",
      "Exception: WorkerProc initialization failed due to an exception in a background process. See stack trace for root cause.",
      "RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {'EngineCore': 1}",
    ]);
  });
});

describe("messages of a log", () => {
  it("have no prefixes, art, carets or frames", () => {
    const lines = [
      "(APIServer pid=7) INFO 11-28 14:43:28 [api_utils.py:347]   █▄█▀ █",
      "(Worker pid=3704) INFO 11-28 14:44:45 [cpu_model_runner.py:68] Starting to load model /m...",
      '(Worker pid=3704) ERROR 11-28 14:44:45 [executor.py:953]   File "/a.py", line 920, in worker_main',
      "(Worker pid=3704) ERROR 11-28 14:44:45 [executor.py:953]     ^^^^",
    ];
    expect(messagesOf(lines)).toEqual(["Starting to load model /m..."]);
  });

  it("are never lost: a log that is not empty gives at least one line", () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.string({ minLength: 1 }).filter((line) => line.trim() !== ""),
          { minLength: 1 },
        ),
        (lines) => {
          expect(tellingLines(lines).length).toBeGreaterThan(0);
        },
      ),
    );
  });

  it("of an exception include the line after it where that is indented, as pydantic says what is wrong in", () => {
    const lines = [
      "Traceback (most recent call last):",
      '  File "a.py"',
      "pydantic.ValidationError: 1 error",
      "  Value error, no",
      "    See",
    ];
    expect(tellingLines(lines)).toEqual(["pydantic.ValidationError: 1 error Value error, no"]);
  });
});
