import { workerData } from "node:worker_threads";
import { serveTasks } from "@/server/threads/serveTasks";
import { type RedactionChoice, Redactor } from "@/solver/redaction/redactor";
import { redactPrompt } from "@/solver/redaction/redactPrompt";
import type { Redacted } from "./redactionThread";

/** Entry of the thread that redacts prompts: an operator's pattern may never finish, and then only this thread is ended. */
const redactor = new Redactor(workerData as RedactionChoice);

serveTasks((prompt: string): Redacted | null => {
  try {
    const text = JSON.stringify(redactPrompt(JSON.parse(prompt), redactor));
    return { text, counts: redactor.takeCounts() };
  } catch {
    // Nested too deeply to be read. The error is not reported: it might quote the prompt.
    redactor.takeCounts();
    return null;
  }
});
