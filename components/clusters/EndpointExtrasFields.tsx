import { AreaField } from "../ui/Field";
import { AttachJudgeFields } from "./AttachJudgeFields";
import type { EndpointExtras } from "./prepareAttach";

/** Optional fields: the judge, and where GPU metrics are. */
export function EndpointExtrasFields(props: {
  readonly extras: EndpointExtras;
  readonly models: readonly string[];
  readonly onChange: (extras: EndpointExtras) => void;
}) {
  const { extras, models, onChange } = props;
  const put = (change: Partial<EndpointExtras>): void => onChange({ ...extras, ...change });
  return (
    <details className="min-w-0">
      <summary className="text-sm text-ink-2">Judge and GPU metrics (can be added later)</summary>
      <div className="mt-2 flex flex-col gap-3">
        <AttachJudgeFields extras={extras} models={models} onChange={put} />
        <AreaField
          label="Addresses of dcgm-exporter, one a line"
          rows={2}
          code
          placeholder="http://gpu-1:9400/metrics"
          value={extras.dcgm}
          onChange={(dcgm) => put({ dcgm })}
        />
      </div>
    </details>
  );
}
