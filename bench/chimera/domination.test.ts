import { expect, test } from "vitest";
import { effectOf } from "./ablation";
import { choiceSentence, kindOf, VLLM, verdictOn, verdicts, verdictTable } from "./domination";
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
  expect(verdicts([vllm, own, other], ["Chimera"], { baseline: VLLM }).map(({ at }) => at)).toEqual(["Llama, gsm | 0.95"]);
});

const wide = row("Chimera", 4, [2.4, 2.41, 2.39, 2.4], [80.5, 80.6, 80.4, 80.5]);

test("a failing case names the point that dominates and that the rule of choice passes over, with the count under both rules", () => {
  const near = row("Chimera", 2, [1.7, 1.71, 1.69, 1.7], [79.7, 79.8, 79.6, 79.7]);
  expect(verdictOn([near, wide], vllm).kind).toBe("slower");
  expect(verdictOn([near, wide], vllm, 1).kind).toBe("dominates");
  expect(verdictTable([vllm, near, wide], ["Chimera"])).toMatch(
    /not faster; the choice allows no loss in the mean .* Chimera, τ 2 \(1\.18/,
  );
  const counts = choiceSentence([vllm, near, wide], ["Chimera"]);
  expect(counts).toMatch(/before the runs: 0 of 1\. .* as the verdict allows: 1 of 1; .* In 1 of 1 the first rule passes over/);
});

test("a failing case without such a point says which is fastest and which is no worse", () => {
  const worse = row("Chimera", 1, [1.2, 1.21, 1.19, 1.2], [75, 75.1, 74.9, 75]);
  const reason = verdictTable([vllm, worse, wide], ["Chimera"]);
  expect(reason).toMatch(
    /not faster; no point dominates; the fastest is Chimera, τ 1 \(1\.67.*of those that are no worse Chimera, τ 4 \(0\.83/,
  );
  expect(choiceSentence([vllm, worse, wide], ["Chimera"])).toMatch(/In 0 of 1 the first rule/);
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
