// OpenTelemetry spans, by its own setting names; on when an endpoint is set.
import Joi from 'joi';
import { list, words } from './environment.js';

const samplers = [
  ...(['always_on', 'always_off', 'traceidratio'] as const),
  ...(['parentbased_always_on', 'parentbased_always_off', 'parentbased_traceidratio'] as const),
] as const;

export interface TracingEnvironment {
  OTEL_EXPORTER_OTLP_ENDPOINT?: string;
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT?: string;
  OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json';
  OTEL_EXPORTER_OTLP_HEADERS: string;
  OTEL_EXPORTER_OTLP_TIMEOUT: number;
  OTEL_SERVICE_NAME: string;
  OTEL_RESOURCE_ATTRIBUTES: string;
  OTEL_TRACES_SAMPLER: (typeof samplers)[number];
  OTEL_TRACES_SAMPLER_ARG: number;
  OTEL_SDK_DISABLED: boolean;
}

const address = Joi.string().uri({ scheme: ['http', 'https'] });
const pairs = () =>
  list((word) => /^[^=\s]+=./.test(word), 'something that is not name=value, such as team=payments');

export const tracingSchema = Joi.object<TracingEnvironment, true>({
  OTEL_EXPORTER_OTLP_ENDPOINT: address.description(
    'OTLP/HTTP collector that spans go to, such as http://127.0.0.1:4318 (/v1/traces is added); no spans when empty',
  ),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: address.description('its whole address for spans, instead'),
  OTEL_EXPORTER_OTLP_PROTOCOL: Joi.string()
    .valid('http/json')
    .default('http/json')
    .description('the only protocol there is'),
  OTEL_EXPORTER_OTLP_HEADERS: pairs().description('headers it wants, comma-separated name=value'),
  OTEL_EXPORTER_OTLP_TIMEOUT: Joi.number()
    .integer()
    .min(1)
    .max(60_000)
    .default(10_000)
    .description('milliseconds to send a batch of spans in; nobody waits for it'),
  OTEL_SERVICE_NAME: Joi.string().max(255).default('back-office').description('service.name of the spans'),
  OTEL_RESOURCE_ATTRIBUTES: pairs().description(
    'more that is true of every span, comma-separated name=value',
  ),
  OTEL_TRACES_SAMPLER: Joi.string()
    .valid(...samplers)
    .default('parentbased_always_on')
    .description(`which traces are kept: ${samplers.join(', ')}`),
  OTEL_TRACES_SAMPLER_ARG: Joi.number().min(0).max(1).default(1).description('share of the ratio samplers'),
  OTEL_SDK_DISABLED: Joi.boolean().default(false).description('no spans, whatever else is set'),
});

/** Undefined: tracing is off. */
export function tracingConfig(env: TracingEnvironment) {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: base } = env;
  const url = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? (base && `${base.replace(/\/+$/, '')}/v1/traces`);
  if (url === undefined || env.OTEL_SDK_DISABLED) return undefined;
  return {
    url,
    headers: pairsOf(env.OTEL_EXPORTER_OTLP_HEADERS),
    timeoutMs: env.OTEL_EXPORTER_OTLP_TIMEOUT,
    service: env.OTEL_SERVICE_NAME,
    attributes: pairsOf(env.OTEL_RESOURCE_ATTRIBUTES),
    sampler: env.OTEL_TRACES_SAMPLER,
    ratio: env.OTEL_TRACES_SAMPLER_ARG,
  };
}

// Values may be percent-encoded, as OpenTelemetry specifies.
function pairsOf(text: string): Record<string, string> {
  return Object.fromEntries(
    words(text).map((word) => {
      const at = word.indexOf('=');
      return [word.slice(0, at), decoded(word.slice(at + 1))];
    }),
  );
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
