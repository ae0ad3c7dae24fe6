import { serveTasks } from "@/server/threads/serveTasks";
import { loadGlpkEngine } from "../planner/glpkEngine";
import type { MixPhase, MixReply, MixTask } from "./mixTask";
import { planMix } from "./planMix";

/** Entry of a thread that makes one plan for a mix and ends. */
serveTasks<MixTask, MixReply, MixPhase>(async (task, { say }) =>
  planMix(task, {
    engine: await loadGlpkEngine(),
    nowSeconds: () => performance.now() / 1000,
    progress: (phase) => void say(phase),
  }),
);
