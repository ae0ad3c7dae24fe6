import { expect, it } from "vitest";
import { hourOfTime, nextSegment, parseHours, previewProblem, timeOfHour } from "./prepareArrivals";

const rates = Array.from({ length: 24 }, (_, hour) => hour / 2);

it.each([
  ["lines", "\n"],
  ["tabs", "\t"],
  ["commas", ", "],
  ["semicolons", ";"],
])("reads 24 pasted numbers separated by %s", (_, separator) => {
  expect(parseHours(rates.join(separator))).toEqual(rates);
});

it("takes a comma for a decimal one where something else separates the numbers", () => {
  expect(parseHours(rates.map((rate) => String(rate).replace(".", ",")).join(" "))).toEqual(rates);
});

it("leaves a text alone that is not 24 rates", () => {
  expect(parseHours(rates.slice(1).join(" "))).toBeNull();
  expect(parseHours([...rates.slice(1), -1].join(" "))).toBeNull();
  expect(parseHours("7.5")).toBeNull();
  expect(parseHours(rates.map(() => "many").join(" "))).toBeNull();
});

it("writes hours as time fields have them, and reads them back", () => {
  expect([0, 7.5, 20.25, 24].map(timeOfHour)).toEqual(["00:00", "07:30", "20:15", "00:00"]);
  expect(hourOfTime("07:30")).toBe(7.5);
  expect(hourOfTime("7:30")).toBe(7.5);
  for (const text of ["", "07", "24:00", "07:60", "7.30", "08:00 PM"]) expect(hourOfTime(text)).toBeNull();
});

it("adds a segment from the end of the last one to the beginning of the first", () => {
  expect(nextSegment([{ name: "day", fromHour: 8, toHour: 20 }])).toEqual({ name: "part 2", fromHour: 20, toHour: 8 });
  const whole = [
    { name: "day", fromHour: 8, toHour: 20 },
    { name: "night", fromHour: 20, toHour: 8 },
  ];
  const { fromHour, toHour } = nextSegment(whole);
  expect(fromHour).not.toBe(toHour);
});

it("names the segment that has too few arrivals", () => {
  const preview = { arrivals: 9, origin: "", requestsPerSecond: 1, histogram: { edges: [0, 1], counts: [9] }, byHour: null };
  const day = { name: "day", arrivals: 8, requestsPerSecond: 1 };
  expect(previewProblem({ ...preview, segments: [day] })).toBeNull();
  expect(previewProblem({ ...preview, segments: [day, { ...day, name: "night", arrivals: 1 }] })).toMatch(/one arrival .*“night”/);
});
