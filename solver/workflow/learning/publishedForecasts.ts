import { BoundedMap } from "@/solver/collections/boundedMap";
import type { AgentForecast } from "./agentForecast";

/** Maximum number of forecasts between two publications: agents times models; in practice there are fewer. */
const MOST_FORECASTS = 65_536;

/**
 * The forecasts in force: those of the latest publication. Learning goes on in between, but all calls of one agent have the same forecast
 * at a time, however long they wait, so that their order is that of their programs. Kairos updates its priorities in the background likewise
 * (section 7.7).
 */
export class PublishedForecasts {
  /** Increases with each publication: waiting calls then need their forecasts anew. */
  revision = 0;
  private readonly known = new BoundedMap<{ readonly forecast: AgentForecast | undefined }>(MOST_FORECASTS);

  /** @param read the current forecast of what is learnt. */
  constructor(private readonly read: (agentKey: string, model: string) => AgentForecast | undefined) {}

  /** From now on forecasts are as learnt by now. */
  publish(): void {
    this.known.clear();
    this.revision += 1;
  }

  /** The forecast of an agent at a model: the same object until the next publication; undefined where nothing was learnt before it. */
  of(agentKey: string, model: string): AgentForecast | undefined {
    const key = `${agentKey}\n${model}`;
    const known = this.known.get(key);
    if (known !== undefined) return known.forecast;
    const forecast = this.read(agentKey, model);
    this.known.put(key, { forecast });
    return forecast;
  }
}
