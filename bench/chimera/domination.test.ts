import { expect, test } from "vitest";
import { effectOf } from "./ablation";
import { kindOf, VLLM, verdictOn, verdicts } from "./domination";
import type { FrontierRow } from "./frontier";

const row = (name: string, tau: number | null, secondsPerToken: readonly number[], quality: readonly number[]): FrontierRow => ({
  ...{ family: "Llama", task: "gsm", load: 0.95, programsPerSecond: 1, name, tau, margin: null, setting: null },
  ...{ secondsPerToken, quality, makespanSeconds: secondsPerToken, queueSeconds: secondsPerToken, preemptions: [], shares: [], span: 9 },
});
const vllm = row("vLLM balancing", null, [2, 2.02, 1.98, 2], [80, 80.1, 79.9, 80]);

test("a system that is no worse within a point and surely faster dominates; one that may be worse does not", () => {
  const of = (seconds: readonly number[], quality: readonly number[]) =>
    kindOf({ latency: { own: seconds, reference: vllm.secondsPerToken }, quality: { own: quality, reference: vllm.quality } });
  const quick = [1, 1.02, 0.98, 1];
  expect(of(quick, [79.8, 80, 79.7, 79.8])).toBe("dominates");
  expect(of(quick, [79, 79, 79, 79])).toBe("worse");
  expect(of(quick, [84, 78, 84, 78])).toBe("worse");
  expect(of([1, 2.2, 1, 2.2], vllm.quality)).toBe("not-surely-faster");
  expect(of([3, 3, 3, 3], vllm.quality)).toBe("slower");
});

test("a seed is measured at the point that the other seeds prefer, so that what is lucky in one seed alone does not win there", () => {
  const steady = row("Chimera", 1, [1.5, 1.5, 1.5, 1.5], [80.2, 80.2, 80.2, 80.2]);
  const lucky = row("Chimera", 8, [0.1, 1.9, 1.9, 1.9], [80.2, 80.2, 80.2, 80.2]);
  const { latency } = verdictOn([steady, lucky], vllm);
  // Without its own luck the first seed prefers the steady point; with it the others prefer the lucky one, and pay for it.
  expect(latency.own).toEqual([1.5, 1.9, 1.9, 1.9]);
});

test("points that are worse in the mean are passed over for any that is not, and else the best is taken", () => {
  const quick = row("Chimera", 0, [1, 1, 1, 1], [70, 70, 70, 70]);
  const good = row("Chimera", 4, [1.9, 1.9, 1.9, 1.9], [81, 81, 81, 81]);
  expect(verdictOn([quick, good], vllm).picks).toEqual(["Chimera|4|-|-"]);
  const less = row("Chimera", 2, [1.2, 1.2, 1.2, 1.2], [75, 75, 75, 75]);
  expect(verdictOn([quick, less], vllm).picks).toEqual(["Chimera|2|-|-"]);
});

test("verdicts are made in each case that has both, and no case is compared with another's baseline", () => {
  const other = { ...row("Chimera", 1, [9, 9, 9, 9], [80, 80, 80, 80]), load: 1.1 };
  const own = row("Chimera", 1, [1, 1, 1, 1], [80, 80, 80, 80]);
  expect(verdicts([vllm, own, other], ["Chimera"], VLLM).map(({ at }) => at)).toEqual(["Llama, gsm | 0.95"]);
});

test("confidence adds where it is surely better and no slower, or surely faster and no worse", () => {
  const of = (seconds: number, points: number) =>
    effectOf(
      { own: [0.99, 1, 1.01].map((one) => one * seconds), reference: [1, 1, 1] },
      { own: [79.9, 80, 80.1].map((one) => one + points), reference: [80, 80, 80] },
    );
  expect(of(1, 3)).toBe("confidence adds");
  expect(of(0.8, 0)).toBe("confidence adds");
  expect(of(1.2, 3)).toBe("better but slower");
  expect(of(0.8, -3)).toBe("faster but worse");
  expect(of(1, 0)).toBe("the load rule does it alone");
  expect(of(1, -3)).toBe("confidence costs");
});
