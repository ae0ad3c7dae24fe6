import { decodeSample } from "@/server/store/answerSampleCodec";
import { serveTasks } from "@/server/threads/serveTasks";
import { replayGate } from "@/solver/ensemble/replay/gateReplay";
import type { ReplayReply, ReplayTask } from "./replayThread";

/** Entry of a thread that replays one gate and ends. */
serveTasks(({ data, request }: ReplayTask): ReplayReply => {
  const report = replayGate(decodeSample(data), request);
  return typeof report === "string" ? { ok: false, message: report } : { ok: true, report };
});
