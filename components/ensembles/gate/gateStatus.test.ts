import { expect, it } from "vitest";
import { RefusedError } from "@/components/api/unwrapOutcome";
import { gateStatus } from "./gateStatus";

const query = { data: undefined, error: null, refetch: () => undefined };

it("says of a gate that the studio refuses why, with nothing to try again, and of one that failed lets it be tried again", () => {
  const refused = gateStatus(null, { ...query, error: new RefusedError({ message: "No question was put to all." }) });
  expect(refused).toEqual({ kind: "empty", title: "Nothing to replay", text: "No question was put to all." });
  expect(gateStatus("Choose two experts.", query)).toMatchObject({ kind: "empty", text: "Choose two experts." });
  expect(gateStatus(null, { ...query, error: new Error("lost") })).toMatchObject({ kind: "error", message: "lost" });
  expect(gateStatus(null, query).kind).toBe("loading");
  expect(gateStatus(null, { ...query, data: {} }).kind).toBe("ready");
});
