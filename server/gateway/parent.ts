import cluster, { type Worker } from "node:cluster";
import { fileURLToPath } from "node:url";
import { pino } from "pino";
import type { Inherited, LateEffect, ToParent, ToProcess } from "./restart/messages";

const log = pino({ name: "weir-gateway-parent", level: process.env.WEIR_LOG_LEVEL ?? "info" });
/** A process that could not take over what was handed over is followed by another after so long. */
const againMs = 5_000;

/**
 * The parent of a gateway: it keeps the gateway's ports open, and runs the gateway in a process of its own. On SIGHUP another process, of the
 * program as it is installed then, takes over: the one before hands over its state, serves what it has and ends. No connection is refused, and
 * no request is lost.
 */
class GatewayParent {
  /** The process that serves and has the state. */
  #owner: Worker | null = null;
  /** What it has handed over; null: it still has its state. */
  #handedOver: Inherited | null = null;
  /** The process that takes over from it. */
  #next: Worker | null = null;
  /** What the owner did after it has handed over, for the next. */
  #late: LateEffect[] = [];
  #isEnding = false;
  /** With which this process ends: the owner's. */
  #endCode = 0;

  /** Starts a process that takes over, unless one does already. */
  succeed(): void {
    if (this.#next !== null || this.#isEnding) return;
    const worker = cluster.fork();
    this.#next = worker;
    worker.on("message", (message: ToParent) => this.#follow(worker, message));
    worker.on("exit", (code, signal) => this.#ended(worker, signal === null ? code : 1));
  }

  /** Ends all processes. */
  end(signal: NodeJS.Signals): void {
    this.#isEnding = true;
    for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill(signal);
  }

  #follow(worker: Worker, message: ToParent): void {
    if (message.kind === "ready") {
      if (this.#owner === null || this.#handedOver !== null) this.#begin();
      else say(this.#owner, { kind: "hand-over" });
    } else if (message.kind === "handed-over") {
      this.#handedOver = message.inherited;
      if (this.#next === null) setTimeout(() => this.succeed(), againMs);
      else this.#begin();
    } else if (message.kind === "up") {
      const before = this.#owner;
      [this.#owner, this.#next, this.#handedOver] = [worker, null, null];
      for (const effect of this.#late.splice(0)) say(worker, { kind: "late", effect });
      if (before === null) return;
      say(before, { kind: "leave" });
      log.info(
        { before: before.process.pid, pid: worker.process.pid },
        "another process serves; the one before ends with its last connection",
      );
    } else if (this.#owner === null || this.#owner === worker) this.#late.push(message.effect);
    else say(this.#owner, { kind: "late", effect: message.effect });
  }

  #begin(): void {
    if (this.#next !== null) say(this.#next, { kind: "begin", inherited: this.#handedOver });
  }

  #ended(worker: Worker, code: number): void {
    if (this.#isEnding) {
      // The others serve what they have: they end at once when this process does.
      if (worker === this.#owner) this.#endCode = code;
      const others = Object.values(cluster.workers ?? {}).filter((other) => other !== undefined && other !== worker && !other.isDead());
      if (others.length === 0) process.exit(this.#endCode);
      return;
    }
    if (worker === this.#next) {
      this.#next = null;
      if (this.#owner !== null) {
        log.error({ code }, "the process that was to take over has ended; the one before serves on");
        if (this.#handedOver !== null) setTimeout(() => this.succeed(), againMs);
        return;
      }
    } else if (worker !== this.#owner) return;
    else if (this.#next !== null && this.#handedOver !== null) {
      // Its successor has all that it left.
      this.#owner = null;
      return;
    }
    // Whoever started this process starts it again, as a gateway without a parent.
    process.exit(code);
  }
}

const say = (worker: Worker, message: ToProcess): void => void worker.send(message);

// The processes accept connections themselves: the parent only keeps the ports.
cluster.schedulingPolicy = cluster.SCHED_NONE;
cluster.setupPrimary({ exec: fileURLToPath(new URL("gateway.mjs", import.meta.url)) });
const parent = new GatewayParent();
process.on("SIGHUP", () => parent.succeed());
for (const signal of ["SIGTERM", "SIGINT", "SIGUSR2"] as const) process.on(signal, () => parent.end(signal));
parent.succeed();
