import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Measure } from "@/server/contracts/studio/profile";
import { answerToken, readAnswerTag } from "@/server/emulator/emulatedAnswer";
import { emulatedJudgement } from "@/server/emulator/emulatedJudgement";
import { createOutcomeBook } from "@/server/emulator/outcomeTable";
import { createMeasureReadings } from "@/server/profiling/measures/readings";
import { outcomesOf } from "@/server/profiling/testing/testProfileStudio";
import type { NewCall } from "@/server/store/profileRepository";
import { openStore } from "@/server/store/store";
import { aucWithin } from "@/solver/judging/concordance";
import { answerOrder } from "@/solver/judging/labelOrder";
import { generatedWorkload } from "@/solver/workload/generated";
import { createTrustService } from "./trustService";

const [PROMPTS, LABELS, JOBS] = [200, 50, 20];
const createdAt = "2026-01-01T00:00:00.000Z";
const at = { kind: "url", url: "http://engine.test" } as const;
const judged = (model: string) => ({ model, at, usdPerMillionInputTokens: 0, usdPerMillionOutputTokens: 0 });
const gate: Measure = { id: "gate", name: "Gate", kind: "rubric", judge: judged("weir-judge"), rubric: null, repeats: 1 };

// 95 of 100 jobs; that many take a quarter of a minute, and far more on a busy machine.
test("50 labels given at the queue cover the AUC of the emulated judge, as the profile read it, in at least 17 of 20 jobs", () => {
  const outcomes = outcomesOf(generatedWorkload({ prompts: PROMPTS, seed: 21 }));
  const made = createOutcomeBook(outcomes);
  if (!made.ok) throw new Error(made.message);
  const { book } = made;
  const readings = createMeasureReadings({ problem: async () => null, passes: async () => null });
  const names = outcomes.models.map(({ model }) => model);
  const answers = names.flatMap((model) =>
    outcomes.promptIds.map((id, position) => {
      const text = Array.from({ length: 5 }, (_, index) => answerToken(id, model, index)).join("");
      const prompt = {
        id,
        category: "",
        atMs: null,
        reference: null,
        test: null,
        body: { messages: [{ role: "user", content: `[prompt ${id}]` }] },
      };
      const work = readings.readingWork(gate, 0, { prompt, answer: text, other: null });
      if (work.kind !== "judge") throw new Error("a rubric asks its judge");
      const [{ content }] = work.body.messages as [{ content: string }];
      const reading = work.read(emulatedJudgement(book, content).token(0));
      if (!("score" in reading)) throw new Error("the emulated judge replies with a number");
      return { model, position, text, score: reading.score, label: book.label(id, model) ?? 0 };
    }),
  );
  const truth = aucWithin(names.map((name) => answers.filter(({ model }) => model === name)))!.value;
  expect(truth).toBeGreaterThan(0.6);
  expect(truth).toBeLessThan(0.99);

  const folder = mkdtempSync(join(tmpdir(), "weir-trust-coverage-"));
  const store = openStore(folder);
  store.prompts.insert(
    {
      ...{ id: "set", name: "Set", createdAt, actor: "a", from: "file", population: PROMPTS, prompts: PROMPTS, skipped: 0, strata: [] },
      ...{ interval: { confidence: 0.9, points: 5 }, meanCharacters: 1, withReference: 0, withTest: 0, multiTurn: 0, withTools: 0 },
      expiresAt: null,
    },
    outcomes.promptIds.map((id) => ({
      ...{ id, category: "", atMs: null, reference: null, test: null },
      body: { messages: [{ role: "user", content: `[prompt ${id}]` }] },
    })),
  );
  const request = {
    ...{ name: "Ours", promptSetId: "set", models: names.map(judged), measures: [gate], concurrency: 1, requestsPerMinute: null },
    ...{ capUsd: null, maxOutputTokens: 10, keepAnswers: true, gates: { confidence: false, samples: null } },
  };
  let covered = 0;
  let width = 0;
  for (let job = 0; job < JOBS; job += 1) {
    const id = `job-${job}`;
    store.profiles.insert({ id, createdAt, actor: "a", promptSetId: "set", request, state: "done", pause: null });
    // A person sees only the answers that are shown.
    const up = new Set(answerOrder(id, PROMPTS, names.length).subarray(0, 2 * LABELS));
    const calls = answers
      .filter(({ position, model }) => up.has(position * names.length + names.indexOf(model)))
      .flatMap(({ position, model, text, score }): NewCall[] => {
        const call = { profileId: id, position, model, reading: 0, state: "done", attempts: 1, at: createdAt, usd: 0 } as const;
        const used = { inputTokens: 1, outputTokens: 1 };
        return [
          { ...call, ...used, measureId: "", answer: text },
          { ...call, ...used, measureId: "gate", score },
        ];
      });
    store.profiles.saveCalls(id, calls);
    const queue = createTrustService({ store, decisionsOf: () => [] });
    for (let given = 0; given < LABELS; given += 1) {
      const next = queue.next(id, "one", "ada");
      if (!next.ok || next.progress.task === null) throw new Error("there are answers left");
      const { index, answers: shown } = next.progress.task;
      // The page does not show the model; the position in the order determines it.
      const model = names[(answerOrder(id, PROMPTS, names.length)[index] ?? 0) % names.length] ?? "";
      const tag = readAnswerTag((shown[0] ?? "").replace("[model]", model));
      queue.label({ jobId: id, kind: "one", index, quality: book.label(tag?.promptId ?? "", model) ?? -1 }, "ada");
    }
    const report = queue.report(id, 80);
    const auc = report.ok ? report.trust.measures[0]?.auc : null;
    if (auc == null) throw new Error("50 labels differ");
    if (auc.low <= truth && truth <= auc.high) covered += 1;
    width += (auc.high - auc.low) / JOBS;
  }
  store.close();
  rmSync(folder, { recursive: true });
  expect(covered).toBeGreaterThanOrEqual(17);
  expect(width).toBeLessThan(0.35);
}, 60_000);
