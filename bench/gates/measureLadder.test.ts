import { expect, it } from "vitest";
import { winnerOf } from "../lib/gateTables";
import { gateLadders, plannedLadders } from "./cases";
import { measureScored } from "./measureLadder";
import { agreementSignal } from "./signals";

const [maths] = gateLadders.filter(({ task }) => task === "gsm");
const [code] = gateLadders.filter(({ task }) => task === "crux");
if (maths === undefined || code === undefined) throw new Error("a task has no ladder");

const PROMPTS = 200;

const tableOf = (prompts: number) => {
  const rows = Array.from({ length: prompts }, (_, row) => row);
  const column = (model: string, label: readonly number[], judged: readonly number[]) => ({
    ...{ model, tableName: model, outputTokens: Int32Array.from(rows, (row) => 20 + (row % 7)) },
    ...{ label: Float64Array.from(label), judged: Float64Array.from(judged) },
  });
  // Graded labels, which the measured scores follow with an error.
  const label = rows.map((row) => ((row * 37) % 10) * 11);
  return {
    promptIds: rows.map(String),
    categories: rows.map(() => "task"),
    inputTokens: Int32Array.from(rows, (row) => 50 + (row % 11)),
    models: [
      column(
        "small",
        label,
        label.map((right, row) => Math.min(100, Math.max(0, right + ((row % 3) - 1) * 11))),
      ),
      column(
        "large",
        rows.map(() => 90),
        rows.map(() => 0),
      ),
    ],
  };
};

it("compares numbers of maths, and whole values of code", () => {
  const of = { outcomes: tableOf(3), own: ["it is 12.0", "7", null], peer: ["12", "7", "8"], peerTokens: new Int32Array(3).fill(9) };
  const texts = { promptTokens: new Int32Array(3), sketches: [null, null, null] };
  expect(Array.from(agreementSignal({ ...of, ladder: maths, texts }).raw)).toEqual([100, 100, 0]);
  expect(Array.from(agreementSignal({ ...of, ladder: code, texts }).raw)).toEqual([0, 100, 0]);
});

it("measures a table with a judge's scores: they win over lengths, and no peer is compared", { timeout: 60_000 }, () => {
  const measured = measureScored(tableOf(PROMPTS), { name: "scored", floors: [60] });
  expect([measured.peer, measured.questions, winnerOf(measured).name]).toEqual([null, PROMPTS, "judge, measured scores"]);
  expect(measured.gates.map(({ name }) => name)).not.toContain("agreement with the peer");
  expect(new Set(measured.shares)).toEqual(new Set([0.5]));
});

it("plans are of the nine cases that were written down first", () => {
  expect(plannedLadders.flatMap(({ floors }) => floors)).toHaveLength(9);
  for (const { floors } of gateLadders) expect(floors).toHaveLength(3);
});
