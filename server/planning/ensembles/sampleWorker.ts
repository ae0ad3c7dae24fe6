import { decodeSample } from "@/server/store/answerSampleCodec";
import { serveTasks } from "@/server/threads/serveTasks";
import { someQuestions } from "@/solver/ensemble/replay/answerSample";
import type { SampleReply, SampleTask } from "./sampleThread";
import { spreadRows } from "./spreadRows";

/** Entry of a thread that reads one large sample of answers and ends. */
serveTasks(({ data }: SampleTask): SampleReply => {
  const sample = decodeSample(data);
  return { ok: true, sample: someQuestions(sample, spreadRows(sample.questionIds.length)) };
});
