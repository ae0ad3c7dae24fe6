import { expect, test } from "vitest";
import { readJudgeSettings } from "./judgeSettings";

const flags = (text: string) => readJudgeSettings(text.split(" ").filter(Boolean));

test("flags are read, with defaults for host and time limit", () => {
  expect(flags("--engine http://127.0.0.1:8000/ --model arith-small --port 9000")).toEqual({
    ok: true,
    settings: { engine: { url: "http://127.0.0.1:8000", model: "arith-small", limitMs: 10_000 }, host: "127.0.0.1", port: 9000 },
  });
  expect(flags("--engine https://a.example --model m --port 0 --host 0.0.0.0 --seconds 1.5")).toMatchObject({
    settings: { engine: { limitMs: 1500 }, host: "0.0.0.0", port: 0 },
  });
});

test("missing, unknown and impossible flags are each refused in a sentence that names the flag", () => {
  const message = (text: string) => {
    const read = flags(text);
    return read.ok ? null : read.message;
  };
  expect(message("--model m --port 1")).toBe("--engine is missing.");
  expect(message("--engine ftp://a --model m --port 1")).toMatch(/^--engine ftp:\/\/a: give an address/);
  expect(message("--engine http://a --model m --port 99999")).toMatch(/^--port 99999: /);
  expect(message("--engine http://a --model m --port 1 --seconds 0")).toMatch(/^--seconds 0: /);
  expect(message("--engine http://a --model m --port 1 --verbose yes")).toMatch(/^The flags cannot be read: each of --engine, /);
});
