import { parentPort, workerData } from "node:worker_threads";
import { type RedactionChoice, Redactor } from "@/solver/redaction/redactor";
import { redactPrompt } from "@/solver/redaction/redactPrompt";
import type { Redacted } from "./redactionDesk";

/** Entry of the thread in which prompts lose what is not to be kept: an operator's pattern may take for ever, and then only it is ended. */
const port = parentPort;
if (port === null) throw new Error("Redaction runs as a worker thread only.");

const redactor = new Redactor(workerData as RedactionChoice);
port.on("message", (prompt: string) => {
  let reply: Redacted | null;
  try {
    const text = JSON.stringify(redactPrompt(JSON.parse(prompt), redactor));
    reply = { text, counts: redactor.takeCounts() };
  } catch {
    // Nested too deep to be read. Nothing is said of it: the error might quote it.
    redactor.takeCounts();
    reply = null;
  }
  port.postMessage(reply);
});
port.postMessage("ready");
