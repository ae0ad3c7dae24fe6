import type { StoredApplication } from "@/server/store/applicationRepository";
import { stepSeconds } from "./stepSeconds";

/** The upper end of the source's measurements for one replica, 2 to 20 s. */
const SOURCE_SECONDS = 20;

/** Engine seconds until a started replica serves, from the last roll-outs here (`stepSeconds`), and the basis in words. */
export function startSeconds(
  applications: readonly Pick<StoredApplication, "steps">[],
  timeScale: number,
): { readonly seconds: number; readonly measured: boolean; readonly basis: string } {
  const seconds = stepSeconds(applications, timeScale, ["start", "verify"]);
  if (seconds === null)
    return {
      seconds: SOURCE_SECONDS,
      measured: false,
      basis: `A replica is taken to start within ${SOURCE_SECONDS} s, the source's upper figure: none was started here yet.`,
    };
  return {
    seconds,
    measured: true,
    basis: `A replica takes ${seconds.toFixed(1)} s to start and be verified, as measured in the last roll-outs here.`,
  };
}
