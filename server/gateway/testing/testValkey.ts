import { onTestFinished } from "vitest";
import { condition } from "@/scripts/needs.mjs";
import { freePorts } from "@/server/testing/freePorts";
import { temporaryDirectory } from "./testGateway";
import { ValkeyProcess, valkeyProgram } from "./valkeyProcess";

/** What tests need that start a Valkey. */
export const valkeyServer = condition("valkey-server or redis-server on the PATH or in WEIR_VALKEY_SERVER", valkeyProgram !== undefined);

/** A Valkey on a free port that ends with the test. */
export async function startTestValkey(): Promise<ValkeyProcess> {
  const [port = 0] = await freePorts(1);
  const valkey = new ValkeyProcess(port, await temporaryDirectory());
  onTestFinished(() => valkey.kill());
  await valkey.start();
  return valkey;
}
