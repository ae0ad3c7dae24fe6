import type { Command } from "commander";
import { mintSignInLink } from "@/server/auth/signIn";
import { studioSettings } from "@/server/lib/studioSettings";
import { EXIT, type ExitCode } from "../flags/exitCodes";
import { withStore } from "../flags/withStore";

/** `weir sign-in`: another one-time link, for a user who may read the state folder. */
export function addSignInCommand(program: Command, onExit: (code: ExitCode) => void): void {
  program
    .command("sign-in")
    .description("print a sign-in link to the studio on this machine; it works once, for an hour")
    .action(async () => {
      const { studioUrl } = studioSettings(process.env);
      process.stdout.write(`${await withStore((store) => mintSignInLink(store, studioUrl))}\n`);
      onExit(EXIT.done);
    });
}
