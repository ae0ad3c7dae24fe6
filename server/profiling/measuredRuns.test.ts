import { expect, it } from "vitest";
import type { StoredAnswer } from "@/server/store/profileRepository";
import { measuredRuns } from "./measuredRuns";

it("tells requests a second of the load itself, not of the time in which it was now and then", () => {
  const hours = [0, 5];
  const answers = hours.flatMap((hour) =>
    Array.from({ length: 20 }, (_, position): StoredAnswer => {
      const at = new Date(Date.UTC(2026, 0, 1, hour, 0, position)).toISOString();
      const measured = {
        inputTokens: 100,
        outputTokens: 50,
        ttftSeconds: 0.2,
        seconds: 2,
        engine: "e1",
        inFlight: 4,
        cut: 0,
        confidence: null,
      };
      return { position, model: "m", at, ...measured };
    }),
  );
  const engine = { engine: "vllm", engineVersion: "1", model: "m", gpu: "l40s", tp: 1, pp: 1, precision: "bf16" };
  const [row] = measuredRuns(answers, engine as unknown as Parameters<typeof measuredRuns>[1], "e1");
  expect(row?.window).toMatchObject({ requests: 40, concurrency: 4, requestsPerSecond: 2 });
});
