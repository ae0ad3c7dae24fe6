import type { Answer } from "@/server/clusters/connector/connector";
import type { EngineHost } from "@/server/clusters/connector/engineHost";
import type { EngineOrder } from "@/server/contracts/engine/engineOrder";
import { freePort } from "@/server/lib/freePort";
import { shellLine } from "@/server/lib/gpuCommand";
import { engineCommand } from "./engineCommand";
import { engineEnvironment, type Variables } from "./engineEnvironment";
import { logTail } from "./engineLog";
import type { EngineRecords } from "./engineRecords";
import type { HostGpus } from "./hostGpus";
import type { Neighbour } from "./neighbours";
import type { ProcessConnection } from "./processConnection";
import { programAt } from "./programAt";
import { indicesOf, startRefusal } from "./startRefusal";

export interface EngineTextParts {
  readonly connection: ProcessConnection;
  readonly node: string;
  readonly environment: Variables;
  readonly records: EngineRecords;
  readonly mask: (text: string) => string;
  readonly readGpus: () => Promise<Answer<HostGpus>>;
  /** Weir's own running engines. */
  readonly engines: () => readonly EngineOrder[];
  readonly neighbours: () => readonly Neighbour[];
}

/**
 * An engine's command line, generated and actual, its log, and the checks that are possible without starting it. Keys are hidden in all.
 */
export function createEngineTexts(parts: EngineTextParts): Required<Pick<EngineHost, "generate" | "actual" | "rehearse" | "log">> {
  const { connection, node, environment, records, mask, readGpus, engines, neighbours } = parts;
  const { ports } = connection;

  const line = (order: EngineOrder, command: readonly string[]): string => `${shellLine(indicesOf(order), command.map(mask))}\n`;

  return {
    /** On its port if it runs, otherwise the first of the range: which one is free shows at the start. */
    generate(order) {
      const command = engineCommand(order, connection, records.read(order.id)?.port ?? ports.from);
      return command.ok ? { ok: true, value: line(order, command.value) } : command;
    },

    async actual(engineId) {
      const record = records.read(engineId);
      return { ok: true, value: record === null || record.ended ? null : line(record.order, record.command) };
    },

    /** GPUs that Weir's own engines hold are no obstacle: the roll-out stops those engines first. */
    async rehearse(order, { signal }) {
      const gpus = await readGpus();
      if (!gpus.ok) return gpus;
      signal.throwIfAborted();
      const own = engines();
      const held = new Set(own.flatMap(indicesOf));
      const uses = gpus.value.uses.filter(({ gpu }) => !held.has(gpu));
      const refusal = startRefusal(order, {
        node,
        gpus: { ...gpus.value, uses },
        engines: [],
        adopted: connection.adopt,
        neighbours: neighbours(),
      });
      if (refusal !== null) return { ok: false, message: refusal };
      const variables = engineEnvironment(connection.environment, environment, indicesOf(order));
      if (!variables.ok) return variables;
      const taken = records.all().flatMap(({ ended, port }) => (ended ? [] : [port]));
      const port = await freePort(ports, new Set(taken));
      if (port === null) return { ok: false, message: `No port from ${ports.from} to ${ports.to} is free.` };
      const command = engineCommand(order, connection, port);
      if (!command.ok) return command;
      const [program = ""] = command.value;
      const found = programAt(program, variables.value.PATH ?? "");
      if (found === null)
        return {
          ok: false,
          message: `The program "${program}" was not found on this host: install it, or give its path in a template of the connection.`,
        };
      return { ok: true, value: `${found} would be run with its GPUs of ${node} on port ${port}, if that is still free then.` };
    },

    async log(engineId) {
      const record = records.read(engineId);
      if (record === null) return { ok: false, message: `${engineId} was not started by Weir on this host: its log is its operator's.` };
      return { ok: true, value: logTail(record.log, mask) };
    },
  };
}
