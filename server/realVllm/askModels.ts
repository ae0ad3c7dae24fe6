import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createProfileService } from "@/server/api/profiling/profileService";
import { createPromptService } from "@/server/api/profiling/promptService";
import { arithmeticWorkload, CONCURRENCY } from "@/server/arithmetic/arithmeticWorkload";
import { createCalibrationSource } from "@/server/calibration/calibrationSource";
import type { CardStore } from "@/server/cards/cardStore";
import type { EngineHost } from "@/server/clusters/connector/engineHost";
import { JUDGE_MODEL } from "@/server/confidenceJudge/judgePrograms";
import type { Outcome } from "@/server/contracts/studio";
import { createUnitTests } from "@/server/profiling/measures/unitTests";
import type { PreparedModel } from "@/server/realModels/prepareRealModels";
import type { Store } from "@/server/store/store";
import { createUploads } from "@/server/store/uploads";
import { type BriefEngine, briefEngine } from "./briefEngine";

/** Half of them plan, which bounds the quality to a few points. */
const questions = 600;

const actor = "weir";

/** Its engine loads within a second; a busy computer takes longer. */
const JUDGE_LIMIT_MS = 60_000;
const LOOK_MS = 200;

export interface AskedModels {
  readonly store: Store;
  readonly cards: CardStore;
  readonly stateDir: string;
  /** The folder of Weir, with `dist`. */
  readonly root: string;
  /** The folder of add-ons, with the engine. */
  readonly addons: string;
  /** Smallest first, with GGUF files. */
  readonly models: readonly PreparedModel[];
  readonly judgeUrl: string;
  /** `keep` starts the judge of the cluster; `release` ends it if no workload is made. */
  readonly programs: Pick<EngineHost, "keep" | "release">;
  readonly signal: AbortSignal;
}

/**
 * A workload of the models' answers to arithmetic, before vLLM runs: they are asked in Weir's own engine, which loads at once, and scored by
 * the cluster's judge. Weights and questions are vLLM's and nothing is sampled; rounding differs, so single answers may too. The profile
 * names the addresses that answered, and no cluster.
 *
 * @returns the workload's id; or a sentence, if an engine or the judge does not answer.
 * @throws Error with its reason where an engine does not start; the signal's reason.
 */
export async function askModels(asked: AskedModels): Promise<Outcome<{ readonly workloadId: string }>> {
  const { store, cards, stateDir, models, judgeUrl, programs, signal } = asked;
  // Of an attempt that was killed.
  endProfiles(store);
  const uploads = createUploads(stateDir);
  const clusterOf = () => null;
  const prompts = createPromptService({ store, uploads, gatewayOf: () => null });
  const profiles = createProfileService({
    ...{
      store,
      uploads,
      cards,
      clusterOf,
      unitTests: createUnitTests([stateDir]),
      sourceOf: createCalibrationSource({ clusterOf, store }),
    },
    arrivals: { openUpload: uploads.open, workloadOf: () => null, clusterOf, clusterName: (id) => id },
    // No cluster is watched here: profiles of an operator that run on one wait for the studio.
    limits: { placeMs: Number.POSITIVE_INFINITY },
  });
  const engines: BriefEngine[] = [];
  let isMade = false;
  try {
    programs.keep?.();
    for (const model of models) engines.push(await briefEngine(commandOf(model, asked)));
    const judge = await judgeAnswers(judgeUrl);
    if (!judge.ok) return judge;
    const at = (url: string) => ({ kind: "url", url }) as const;
    const order = {
      ...{ name: "Arithmetic, answered in llama.cpp", questions, judge: { model: JUDGE_MODEL, at: at(judgeUrl) } },
      models: engines.map(({ url }, index) => ({ model: models[index]?.name ?? "", at: at(url) })),
    };
    const run = { signal, actor, made: { promptSetId: null, profileId: null } };
    const nothing = () => undefined;
    const made = await arithmeticWorkload({ store, uploads, prompts, profiles }, order, { ...run, keep: nothing, say: nothing });
    isMade = made.ok;
    return made;
  } finally {
    await profiles.close();
    prompts.close();
    await Promise.all(engines.map((engine) => engine.end()));
    endProfiles(store);
    if (!isMade) programs.release?.();
  }
}

const commandOf = ({ name, gguf }: PreparedModel, { root, addons }: AskedModels): readonly string[] => [
  ...[process.execPath, join(root, "dist", "engine.mjs"), "--model", gguf ?? "", "--alias", name],
  ...["--addons", addons, "--sequences", `${CONCURRENCY}`, "--threads", "1"],
];

/** Ends open profiles of this file: the engines that they ask have ended, so that a studio could not continue them. */
function endProfiles(store: Store): void {
  for (const profile of store.profiles.list()) {
    if (profile.actor !== actor || profile.state === "done" || profile.state === "stopped") continue;
    store.profiles.dropAnswers(profile.id);
    store.profiles.setState(profile.id, "stopped", null);
  }
}

/** Waits for the judge, which has no engine at first. */
async function judgeAnswers(url: string): Promise<Outcome<object>> {
  const deadline = performance.now() + JUDGE_LIMIT_MS;
  while (performance.now() < deadline) {
    const isUp = await fetch(`${url}/health`, { signal: AbortSignal.timeout(JUDGE_LIMIT_MS) }).then(
      async (answer) => {
        await answer.body?.cancel();
        return answer.ok;
      },
      () => false,
    );
    if (isUp) return { ok: true };
    await sleep(LOOK_MS);
  }
  return { ok: false, message: `The judge at ${url} did not answer within ${JUDGE_LIMIT_MS / 1000} s.` };
}
