import { parentPort, workerData } from "node:worker_threads";
import { decodeSample } from "@/server/store/answerSampleCodec";
import { someQuestions } from "@/solver/ensemble/answerSample";
import type { SampleReply, SampleTask } from "./sampleThread";
import { spreadRows } from "./spreadRows";

/** Entry of a thread that reads one large sample of answers and ends. */
const port = parentPort;
if (port === null) throw new Error("Large samples are read in worker threads only.");
const sample = decodeSample((workerData as SampleTask).data);
port.postMessage({ ok: true, sample: someQuestions(sample, spreadRows(sample.questionIds.length)) } satisfies SampleReply);
