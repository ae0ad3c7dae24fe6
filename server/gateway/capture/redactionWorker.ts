import { workerData } from "node:worker_threads";
import { serveTasks } from "@/server/threads/serveTasks";
import { type RedactionChoice, Redactor } from "@/solver/redaction/redactor";
import { redactPrompt } from "@/solver/redaction/redactPrompt";
import type { Redacted } from "./redactionThread";

/** Entry of the thread in which prompts lose what is not to be kept: an operator's pattern may take for ever, and then only it is ended. */
const redactor = new Redactor(workerData as RedactionChoice);

serveTasks((prompt: string): Redacted | null => {
  try {
    const text = JSON.stringify(redactPrompt(JSON.parse(prompt), redactor));
    return { text, counts: redactor.takeCounts() };
  } catch {
    // Nested too deep to be read. Nothing is said of it: the error might quote it.
    redactor.takeCounts();
    return null;
  }
});
