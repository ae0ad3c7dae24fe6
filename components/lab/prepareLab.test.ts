import { expect, it } from "vitest";
import { labSpecSchema } from "@/solver/lab/labSpec";
import { runCsv, runJson } from "./exportRun";
import { prepareCdf, prepareLabFrontier, prepareLatencyByRate, prepareQueueByLength, prepareShares } from "./prepareFigures";
import { partialNote, progressText, runDigest, runSize } from "./prepareRun";
import { prepareSystems, shownSystems, systemText } from "./prepareSystems";
import { prepareTable } from "./prepareTable";
import { prepareWorkflow, shapesOf } from "./prepareWorkflow";
import { choosingSystem, fixedSystem, slackSystem, testCell, testRun, testSpec } from "./testRun";

const run = testRun();
const marks = prepareSystems(run.spec.systems);
const table = (view: Partial<Parameters<typeof prepareTable>[2]> = {}) =>
  prepareTable(run, marks, { rate: 0, against: 0, sort: "system", descending: false, ...view });
const cellOf = (row: number, metric: string) => table()[row]?.cells.find((cell) => cell.metric === metric);

it("tells systems of one name apart by slack, and others by letter", () => {
  expect(marks.map(({ label, letter }) => `${letter} ${label}`)).toEqual(["A all to small", "B Chimera, τ 0", "B Chimera, τ 1"]);
  expect(prepareSystems([fixedSystem, fixedSystem]).map(({ variant }) => variant)).toEqual(["#1", "#2"]);
});

it("gives no two names one letter and one line, however many there are", () => {
  const many = prepareSystems(Array.from({ length: 26 }, (_, at) => ({ ...fixedSystem, name: `system ${at}` })));
  expect(new Set(many.map(({ letter }) => letter)).size).toBe(26);
  expect(new Set(many.map(({ hue, dash }) => hue + dash)).size).toBe(26);
});

it("shows one system of each name that chooses between models, unless others are asked for", () => {
  const shown = (asked: number[] | null) => shownSystems(marks, run.spec.systems, asked).map(({ index }) => index);
  expect(shown(null)).toEqual([1]);
  expect(shown([2, 0])).toEqual([0, 2]);
  expect(shown([99])).toEqual([1]);
  expect(shownSystems(marks.slice(0, 1), [fixedSystem], null)).toHaveLength(1);
  const knowing = [slackSystem(0), { ...slackSystem(0), name: "oracle router", confidence: "oracle" as const }];
  expect(shownSystems(prepareSystems(knowing), knowing, null).map(({ name }) => name)).toEqual(["Chimera"]);
});

it("says what a system is made of", () => {
  expect(systemText(slackSystem(0.5))).toBe(
    "slack τ 0.5 · shortest program first (STJF) · least loaded replica · lengths: learnt · confidence: learnt",
  );
  const { policy, ...rest } = slackSystem(8);
  const order = { kind: "mlfq" as const, quantaSeconds: [1], agingThreshold: 9, preempts: true as const };
  if (policy.kind !== "slack") throw new Error("a slack system is expected");
  expect(systemText({ ...rest, policy: { ...policy, order, price: { weight: 0.02, dampingSeconds: 30 } } })).toMatch(
    /^slack τ 8, busy models priced · least served program first \(MLFQ\), preempting · /,
  );
  expect(systemText(choosingSystem(4))).toBe(
    "models chosen just in time, beam of width 4 · first come, first served (FCFS) · least loaded replica · accurate configurations: learnt",
  );
});

it("compares systems over the same programs: the interval of a constant difference has no width", () => {
  expect(cellOf(0, "quality")).toMatchObject({ value: "61.0", within: "±1.7", difference: null });
  expect(cellOf(2, "quality")).toMatchObject({ value: "71.0", difference: "+10.0 (+10.0 to +10.0)", word: "best" });
  expect(cellOf(0, "meanSeconds")?.word).toBe("best");
  expect(cellOf(1, "meanSeconds")?.word).toBeNull();
});

it("calls level what seeds do not tell from the best, and gives one seed no interval", () => {
  const noisy = [12, 9, 11].map((meanSeconds, seed) => testCell({ system: 1, rate: 0, seed, meanSeconds }));
  const steady = [10, 10, 10].map((meanSeconds, seed) => testCell({ system: 0, rate: 0, seed, meanSeconds }));
  const view = { rate: 0, against: 0, sort: "system", descending: false } as const;
  const latency = (cells: typeof noisy) =>
    prepareTable({ cells }, marks, view).map((row) => row.cells.find(({ metric }) => metric === "meanSeconds"));
  expect(latency([...steady, ...noisy]).map((cell) => cell?.word)).toEqual(["best", "level"]);
  const one = latency([...steady.slice(0, 1), ...noisy.slice(0, 1)]);
  expect(one[1]).toMatchObject({ within: null, difference: "+20 %".replace(" ", "\u00a0"), word: null });
  // With one seed no system is best.
  expect(one[0]?.word).toBeNull();
});

it("writes an interval in its value's unit and digits, ends it at zero, and prices 1,000 programs", () => {
  const cells = [10.9, 11.4, 11.9].map((meanSeconds, seed) =>
    testCell({
      ...{ system: 0, rate: 0, seed, meanSeconds, usdPerProgram: 0.000117 + seed / 1e6, preemptions: 3 * seed, longestWaitSeconds: 0.4 },
    }),
  );
  const [row] = prepareTable({ cells }, marks, { rate: 0, against: 0, sort: "system", descending: false });
  const told = (metric: string) => {
    const cell = row?.cells.find((each) => each.metric === metric);
    return `${cell?.value} ${cell?.within}`.replace("\u00a0", " ");
  };
  expect(told("meanSeconds")).toBe("11.4 s ±0.8");
  expect(told("usdPerProgram")).toBe("$0.118 ±0.002");
  expect(told("preemptions")).toBe("3 (0 to 8)");
  // Identical seeds give no interval.
  expect(told("longestWaitSeconds")).toBe("400 ms null");
});

it("sorts by a figure either way, what is not known last", () => {
  const order = (descending: boolean) => table({ sort: "meanSeconds", descending }).map(({ mark }) => mark.index);
  expect([order(false), order(true)]).toEqual([
    [0, 1, 2],
    [2, 1, 0],
  ]);
  const cells = [testCell({ system: 0, rate: 0, seed: 0, quality: null }), testCell({ system: 1, rate: 0, seed: 0 })];
  for (const descending of [false, true]) {
    const rows = prepareTable({ cells }, marks, { rate: 0, against: 1, sort: "quality", descending });
    expect(rows.map(({ mark }) => mark.index)).toEqual([1, 0]);
  }
});

it("leaves blank what a run's cells were made without, in table and export", () => {
  const cells = run.cells.map(({ preemptedShare: _, queueShare: __, secondsPerTokenQuantiles: ___, ...earlier }) => earlier);
  const [row] = prepareTable({ cells }, marks, { rate: 0, against: 1, sort: "preemptedShare", descending: false });
  for (const metric of ["p95SecondsPerToken", "p99SecondsPerToken", "queueShare", "preemptedShare"]) {
    expect(row?.cells.find((cell) => cell.metric === metric)).toEqual({ metric, value: "–", within: null, difference: null, word: null });
    expect(cellOf(0, metric)?.value).toMatch(/^\d/);
  }
  const [header = "", first = ""] = runCsv({ ...run, cells }, marks).split("\n");
  const told = Object.fromEntries(header.split(",").map((name, at) => [name, first.split(",")[at]]));
  expect(told).toMatchObject({ preemptions: "0", preempted_share: "", queue_share: "", p99_latency_s_per_token: "", mean_queue_s: "2" });
});

it("draws a line for each name through its slacks, with bars over seeds, and only what quality is known of", () => {
  const picture = prepareLabFrontier(run, { marks, shown: marks }, { rate: 0, latency: "latency" });
  expect(picture?.points.map(({ letter, tag }) => `${letter}${tag}`)).toEqual(["A", "Bτ 0", "Bτ 1"]);
  expect(picture?.lines).toHaveLength(2);
  expect(picture?.points.every(({ xBar, yBar }) => xBar !== null && yBar !== null)).toBe(true);
  const unknown = { ...run, cells: run.cells.map((cell) => ({ ...cell, quality: null })) };
  expect(prepareLabFrontier(unknown, { marks, shown: marks }, { rate: 0, latency: "latency" })).toBeNull();
});

it("draws the distribution of latencies up to its last hundredth, rising", () => {
  const picture = prepareCdf(run, marks.slice(0, 1), 0);
  const xs = picture?.points.map(({ x }) => x) ?? [];
  expect(xs).toHaveLength(100);
  expect([...xs].sort((a, b) => a - b)).toEqual(xs);
});

it("weighs tenths of length by their programs", () => {
  const cells = [
    testCell({ system: 0, rate: 0, seed: 0, queueByLength: [{ mostTokens: 100, programs: 30, meanQueueSeconds: 1 }] }),
    testCell({ system: 0, rate: 0, seed: 1, queueByLength: [{ mostTokens: 120, programs: 10, meanQueueSeconds: 5 }] }),
  ];
  const picture = prepareQueueByLength({ spec: testSpec, cells }, marks.slice(0, 1), 0);
  expect(picture?.points[0]?.text).toMatch(/up to 110 tokens.*2\.00/);
});

it("places rates on their axis in order, and leaves out what is not there yet", () => {
  const picture = prepareLatencyByRate({ ...run, cells: run.cells.filter(({ rate }) => rate === 1) }, marks.slice(0, 1), "latency");
  expect(picture?.points).toHaveLength(1);
  expect(prepareShares({ ...run, cells: [] }, marks, 0)).toEqual([]);
});

it("says how large a run is, how far it is, and what is missing", () => {
  const stage = { role: "coder", part: "solves", reads: [], lengthRatio: 1 };
  const workflows = [{ name: "coder", stages: [stage, stage], otherShapes: [] }];
  expect(runSize(testSpec, workflows).text).toBe("3 systems × 2 rates × 3 seeds = 18 cells, about 3,600 requests");
  const looped = workflows.map((each) => ({ ...each, otherShapes: [{ share: 0.25, stages: Array(6).fill(stage) }] }));
  expect(runSize(testSpec, looped).text).toMatch(/about 5,400 requests$/);
  expect(progressText({ state: "running", doing: null, cellsAll: 18, cellsDone: 4 })).toBe("Queued: 4 of 18 cells done");
  expect(partialNote({ ...run, state: "running", cells: run.cells.slice(1) })).toMatch(/^1 cell still to come/);
  expect(partialNote(run)).toBeNull();
});

it("gives one digest of a run, whatever order its cells came in, and another where any cell differs", () => {
  const digests = ["a", "b", "a"].map((digit) => digit.repeat(64));
  const cells = digests.map((digest, seed) => testCell({ system: 0, rate: 0, seed, digest }));
  const digest = runDigest({ cells });
  expect(digest).toMatch(/^[0-9a-f]{64}$/);
  expect(runDigest({ cells: [...cells].reverse() })).toBe(digest);
  const swapped = cells.map((cell, seed) => ({ ...cell, digest: digests[(seed + 1) % 3] ?? "" }));
  expect(runDigest({ cells: swapped })).not.toBe(digest);
  expect(runDigest({ cells: [] })).toBe("");
});

it("exports every cell with the rate and the seed themselves, names quoted where they must be", () => {
  const [header, first, ...rest] = runCsv({ ...run, spec: { ...run.spec, seeds: [7, 8, 9] } }, marks)
    .trim()
    .split("\n");
  expect(header).toMatch(/^system,programs_per_second_offered,seed,/);
  expect(first).toMatch(/^all to small,1,7,100,0,60,10,/);
  expect(rest).toHaveLength(17);
  expect(rest.at(-1)).toMatch(/^"Chimera, τ 1",2,9,/);
});

it("exports a run with a description that can be read back", () => {
  expect(labSpecSchema.parse(JSON.parse(runJson(run)).spec)).toEqual(run.spec);
});

it("draws a chain as a chain though each agent reads all before it, and puts side by side what waits for the same", () => {
  const stage = (role: string, reads: number[]) => ({ role, part: "helps", reads, lengthRatio: 1 });
  const chain = prepareWorkflow({ stages: [stage("planner", []), stage("coder", [0]), stage("qa", [0, 1])] });
  expect(chain.edges.map(({ key }) => key)).toEqual(["0-1", "1-2"]);
  expect(chain).toMatchObject({ columns: 3, lanes: 1, says: "planner, coder, qa" });
  const voting = prepareWorkflow({ stages: [stage("voter", []), stage("voter", []), stage("judge", [0, 1])] });
  expect(voting).toMatchObject({ columns: 2, lanes: 2 });
  expect(voting.nodes.map(({ lane }) => lane)).toEqual([0, 1, 0.5]);
});

it("gives every shape that programs of a workflow take, those that most take first, and shares that leave nobody out", () => {
  const stage = (role: string) => ({ role, part: "solves", reads: [], lengthRatio: 1 });
  const [own, longer, longest] = [[stage("a")], [stage("a"), stage("b")], [stage("a"), stage("b"), stage("c")]];
  expect(shapesOf({ stages: own, otherShapes: [] })).toEqual([{ share: 1, stages: own }]);
  const several = [
    { share: 0.125, stages: longer },
    { share: 0.625, stages: longest },
  ];
  expect(shapesOf({ stages: own, otherShapes: several })).toEqual([several[1], { share: 0.25, stages: own }, several[0]]);
});
