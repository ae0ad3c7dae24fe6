import { type Command, Option } from "commander";
import { createPeopleService } from "@/server/api/people/peopleService";
import { roles } from "@/server/auth/roles";
import { localPerson } from "@/server/auth/signIn";
import type { ApiTokenSummary, Role } from "@/server/contracts/studio";
import type { Store } from "@/server/store/store";
import { textTable } from "../describe/textTable";
import { EXIT, type ExitCode, must, refuse } from "../flags/exitCodes";
import { numberFlag } from "../flags/flagValues";
import { withStore } from "../flags/withStore";

const longestLabel = 80;

interface CreateFlags {
  readonly label: string;
  readonly role: Role;
  readonly days: number;
}

/** `weir token`: API tokens of the studio, for a user who may read the state folder. */
export function addTokenCommand(program: Command, onExit: (code: ExitCode) => void): void {
  const token = program.command("token").description("API tokens of the studio on this machine, for programs");
  token
    .command("create")
    .description("make a token and print it, once; send it as `Authorization: Bearer TOKEN`")
    .requiredOption("--label <text>", "what it is for")
    .addOption(new Option("--role <role>", "what it may do").choices(roles).makeOptionMandatory())
    .option("--days <days>", "days until it expires", numberFlag({ min: 1, max: 366, whole: true }), 30)
    .action(async (flags: CreateFlags) => onExit(await withStore((store) => create(store, flags))));
  token
    .command("list")
    .description("list all tokens, newest first")
    .option("--json", "print them as JSON", false)
    .action(async ({ json }: { readonly json: boolean }) => {
      const tokens = await withStore((store) => peopleOf(store).tokens());
      process.stdout.write(json ? `${JSON.stringify(tokens, null, 2)}\n` : described(tokens, Date.now()));
      onExit(EXIT.done);
    });
  token
    .command("revoke")
    .description("refuse a token from now on")
    .argument("<id>", "as `weir token list` gives it")
    .action(async (id: string) => {
      await withStore((store) => must(peopleOf(store).revokeToken(id, actor(store))));
      onExit(EXIT.done);
    });
}

/** Streams are open in the studio's process. */
const peopleOf = (store: Store) => createPeopleService({ store, endStreams: () => undefined });

function actor(store: Store): { readonly userId: string; readonly name: string } {
  const { id, name } = localPerson(store);
  return { userId: id, name };
}

function create(store: Store, { label, role, days }: CreateFlags): ExitCode {
  const trimmed = label.trim();
  if (trimmed === "" || trimmed.length > longestLabel) return refuse(`Give a label of 1 to ${longestLabel} characters.`);
  const { disabledAt, name } = localPerson(store);
  if (disabledAt !== null)
    return refuse(`${name} is disabled, so a token made here would be refused: an admin enables ${name} in the studio.`);
  const { token } = must(peopleOf(store).createToken({ label: trimmed, role, days }, actor(store)));
  process.stderr.write(
    `Keep this token of the role ${role}, it is not shown again. It expires in ${days} ${days === 1 ? "day" : "days"}.\n`,
  );
  process.stdout.write(`${token}\n`);
  return EXIT.done;
}

function described(tokens: readonly ApiTokenSummary[], nowMs: number): string {
  if (tokens.length === 0) return "There are no tokens.\n";
  const rows = tokens.map(({ id, label, role, createdBy, expiresAt, lastUsedAt, revokedAt }) => {
    const ended = revokedAt !== null ? "revoked" : Date.parse(expiresAt) <= nowMs ? "expired" : "";
    // A label is arbitrary, and a terminal interprets control characters.
    return [id, label.replace(/\p{Cc}/gu, " "), role, createdBy, expiresAt, lastUsedAt ?? "never", ended];
  });
  return textTable([["id", "label", "role", "made by", "expires", "last used", ""], ...rows]);
}
