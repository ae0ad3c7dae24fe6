/** An application in a PUT, with the fields that the stand-in reads. */
export interface TestConfig {
  readonly name?: string;
  readonly route_prefix?: string;
  readonly import_path?: string;
  readonly args?: Readonly<Record<string, unknown>>;
  readonly runtime_env?: object;
}

/** The objection of Ray's `ServeDeploySchema` to a PUT, in pydantic's words; null if it is valid. */
export function refusalOf({ applications }: { readonly applications?: readonly TestConfig[] }): string | null {
  if (applications === undefined) return fault("applications", "Field required", {});
  const [nameless] = applications.flatMap((one, index) => (one.import_path === undefined ? [index] : []));
  if (nameless !== undefined) return fault(`applications.${nameless}.import_path`, "Field required", applications[nameless] ?? {});
  const twice = (values: readonly (string | undefined)[]) => values.find((value, index) => values.indexOf(value) !== index);
  const name = twice(applications.map((one) => one.name ?? "default"));
  if (name !== undefined)
    return fault(
      "applications",
      `Value error, Found multiple configs for application "${name}". Please remove all duplicates.`,
      applications,
    );
  const route = twice(applications.map((one) => one.route_prefix ?? "/"));
  if (route === undefined) return null;
  const words = `Value error, Found duplicate applications for route prefix "${route}". Please ensure each application's route_prefix is unique.`;
  return fault("applications", words, applications);
}

const fault = (where: string, words: string, input: object): string =>
  `1 validation error for ServeDeploySchema\n${where}\n  ${words} [type=value_error, input_value=${JSON.stringify(input)}, input_type=list]\n    For further information visit https://errors.pydantic.dev/2.14/v/value_error`;
