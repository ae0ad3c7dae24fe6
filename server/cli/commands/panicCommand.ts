import { userInfo } from "node:os";
import { type Command, Option } from "commander";
import type { AdminRequest } from "@/server/clusters/connector/adminClient";
import { type Panic, panicSchema } from "@/server/contracts/gateway/gatewayControls";
import { EXIT, type ExitCode, refuse } from "../flags/exitCodes";
import { gatewayAdmin } from "./gatewayAdmin";

interface PanicFlags {
  readonly clear: boolean;
  readonly lift?: true;
  readonly json: boolean;
  readonly reason?: string;
}

/** `weir panic`: sends every request for text to one model until it is cleared; calls the gateway directly, so that no studio is needed. */
export function addPanicCommand(program: Command, onExit: (code: ExitCode) => void): void {
  program
    .command("panic")
    .description("send every request for text to one model until it is cleared; works without the studio")
    .argument("[model]", "the model; without it and without --clear, say whether there is a panic")
    .option("--clear", "end the panic", false)
    // The name of earlier versions, accepted for one release.
    .addOption(new Option("--lift").hideHelp())
    .option("--json", "print the panic as JSON; null where there is none", false)
    .option("--reason <text>", "why, for the audit; needed with a model")
    .action(async (model: string | undefined, flags: PanicFlags) => onExit(await panic(model, flags)));
}

async function panic(model: string | undefined, { clear, lift, json, reason = "" }: PanicFlags): Promise<ExitCode> {
  const ends = clear || lift === true;
  if (model !== undefined && ends) return refuse("Give a model or --clear, not both.");
  if (model !== undefined && reason.trim() === "") return refuse("Give a reason with --reason.");
  const signed = { by: user(), reason };
  if (model !== undefined) return say({ method: "PUT", body: { model, ...signed } }, json);
  return say(ends ? { method: "DELETE", body: signed } : {}, json);
}

/** Calls the gateway and prints what is then in force. */
async function say(request: Omit<AdminRequest<typeof panicSchema>, "schema">, json: boolean): Promise<ExitCode> {
  const answer = await gatewayAdmin()("/panic", { ...request, schema: panicSchema.nullable() });
  if (!answer.ok) return refuse(answer.message, EXIT.failed);
  const current = answer.value.value;
  process.stdout.write(`${json ? JSON.stringify(current, null, 2) : described(current)}\n`);
  if (current?.warning !== undefined) process.stderr.write(`${current.warning}\n`);
  return EXIT.done;
}

function described(current: Panic | null): string {
  if (current === null) return "There is no panic: requests follow the plan in force.";
  const { model, by, reason, sinceMs } = current;
  // The signer's text is arbitrary, and a terminal interprets control characters.
  return `Every request for text goes to ${model} since ${new Date(sinceMs).toISOString()}, by ${by}: ${reason}`.replace(/\p{Cc}/gu, " ");
}

function user(): string {
  try {
    return userInfo().username;
  } catch {
    // A container's user may have a number and no name.
    return `user ${process.getuid?.() ?? "unknown"}`;
  }
}
