import type { Argument, Command, Option } from "commander";
import { EXIT } from "@/server/cli/flags/exitCodes";
import { createProgram } from "@/server/cli/program";
import { code, page, plain, table } from "./markdown";

const meanings: Readonly<Record<keyof typeof EXIT, string>> = {
  done: "The command did its work.",
  failed: "Something failed that is not the input's fault, such as a file that cannot be written or an engine that does not answer.",
  badInput: "The input cannot be used. One sentence on stderr names the file, line or flag; nothing is changed.",
  infeasible: "No plan keeps all the constraints. The smallest set of constraints that conflict is named.",
};

/** The page of the command line: every command with its arguments, flags, defaults and exit codes. */
export function commandLinePage(): string {
  const program = createProgram(() => {});
  return page([
    "# Command line",
    "`npm run -s weir -- COMMAND` runs a command in the repository. Every command takes `--help`. Results go to stdout, progress and refusals to stderr.",
    "## Exit codes",
    table(
      ["code", "kind", "meaning"],
      Object.entries(EXIT).map(([kind, value]) => [String(value), code(kind), meanings[kind as keyof typeof EXIT]]),
    ),
    ...leaves(program).flatMap(section),
  ]);
}

/** Commands with an action, those of groups under the group's name. */
function leaves(command: Command, before: readonly string[] = []): readonly { readonly command: Command; readonly name: string }[] {
  const all = [...command.commands].filter((one) => one.name() !== "help");
  return all.flatMap((one) => {
    const path = [...before, one.name()];
    const below = leaves(one, path);
    return one.registeredArguments.length + one.options.length > 0 || below.length === 0
      ? [{ command: one, name: path.join(" ") }, ...below]
      : below;
  });
}

function section({ command, name }: ReturnType<typeof leaves>[number]): readonly string[] {
  const { registeredArguments: positionals } = command;
  const options = command.options.filter((option) => !option.hidden);
  const usage = [name, ...positionals.map(written), ...(options.length > 0 ? ["[options]"] : [])].join(" ");
  return [
    `## weir ${name}`,
    plain(command.description()),
    `\`\`\`sh\nweir ${usage}\n\`\`\``,
    ...(positionals.length === 0
      ? []
      : [
          table(
            ["argument", "meaning"],
            positionals.map((one) => [code(written(one)), plain(one.description)]),
          ),
        ]),
    ...(options.length === 0 ? [] : [table(["flag", "default", "meaning"], options.map(row))]),
  ];
}

const written = (argument: Argument): string => {
  const name = `${argument.name()}${argument.variadic ? "..." : ""}`;
  return argument.required ? `<${name}>` : `[${name}]`;
};

function row(option: Option): readonly string[] {
  const { defaultValue: value, argChoices: choices } = option;
  const usual = option.mandatory
    ? "required"
    : value === undefined || value === false
      ? ""
      : code(typeof value === "string" ? value : JSON.stringify(value));
  const among = choices === undefined ? "" : ` One of ${choices.map(code).join(", ")}.`;
  return [code(option.flags), usual, `${plain(option.description)}${among}`];
}
