import { pino } from "pino";
import { startGateway } from "@/server/gateway/gateway";
import type { GatewayLimits } from "@/server/gateway/http/limits";

/**
 * The gateway as a separate process with shorter limits, so that it drops hanging engines and slow clients within seconds. Prints
 * its addresses first; later lines are its logged errors, one each. Ends when its parent closes its standard input.
 *
 * Arguments: the state directory, then the limits as JSON.
 */
const [stateDirectory = "", limits = "{}"] = process.argv.slice(2);
const gateway = await startGateway({
  dataPort: 0,
  adminPort: 0,
  stateDirectory,
  adminToken: null,
  studio: null,
  log: pino({ level: "error" }),
  limits: JSON.parse(limits) as Partial<GatewayLimits>,
});
process.stdout.write(`${JSON.stringify({ dataUrl: gateway.dataUrl, adminUrl: gateway.adminUrl })}\n`);
process.stdin.resume();
process.stdin.on("end", () => process.exit(0));
