import { TRPCClientError } from "@trpc/client";
import { expect, it } from "vitest";
import { studioSilence } from "./useStudioSilence";

const refused = new TRPCClientError("Failed to fetch");
const answered = new TRPCClientError("No such cluster", {
  result: { error: { code: -32004, message: "No such cluster", data: { httpStatus: 404 } } } as never,
});
const well = { error: null, failureReason: null, dataUpdatedAt: 5000 };

it("counts from the last answer, at the first attempt that gets none", () => {
  expect(studioSilence({ ...well, failureReason: refused })).toBe(5000);
});

it("goes on while a new attempt is under way, and ends with an answer", () => {
  expect(studioSilence({ ...well, error: refused })).toBe(5000);
  expect(studioSilence(well)).toBeNull();
});

it("takes an error the studio sent itself for an answer", () => {
  expect(studioSilence({ ...well, error: answered, failureReason: answered })).toBeNull();
});
