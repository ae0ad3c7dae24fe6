import { parentPort, workerData } from "node:worker_threads";
import { decodeSample } from "@/server/store/answerSampleCodec";
import { replayGate } from "@/solver/ensemble/gateReplay";
import type { ReplayReply, ReplayTask } from "./replayThread";

/** Entry of a thread that replays one gate and ends. */
const port = parentPort;
if (port === null) throw new Error("Gates are replayed in worker threads only.");
const { data, request } = workerData as ReplayTask;
const report = replayGate(decodeSample(data), request);
port.postMessage((typeof report === "string" ? { ok: false, message: report } : { ok: true, report }) satisfies ReplayReply);
