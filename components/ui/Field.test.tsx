import { renderToStaticMarkup } from "react-dom/server";
import { describe, expect, it } from "vitest";
import { NumberField, SelectField, TextField } from "./Field";

const change = () => undefined;
const attribute = (html: string, name: string): string | undefined => new RegExp(`${name}="([^"]*)"`).exec(html)?.[1];

describe("a field with which something is wrong", () => {
  it.each([
    ["a text", <TextField key="a" label="Name" value="" onChange={change} problem="Give it a name." />],
    ["a choice", <SelectField key="b" label="Kind" value="" options={[]} onChange={change} problem="Give it a name." />],
    ["a number", <NumberField key="c" label="Quorum" value={3} min={1} max={16} onChange={change} problem="Give it a name." />],
  ])("is marked and tells its sentence with itself: %s", (_, field) => {
    const html = renderToStaticMarkup(field);
    const id = attribute(html, "aria-describedby");
    expect(id).toBe(`${attribute(html, "for")}-problem`);
    expect(html).toContain(`id="${id}"`);
    expect(html).toMatch(/aria-invalid="true"/);
    expect(html).toContain("Give it a name.");
    expect(html).not.toContain('role="alert"');
  });

  it("is like any other once nothing is", () => {
    const html = renderToStaticMarkup(<NumberField label="Quorum" value={3} min={1} max={16} onChange={change} problem={undefined} />);
    expect(html).toMatch(/aria-invalid="false"/);
    expect(html).not.toContain("aria-describedby");
  });
});
