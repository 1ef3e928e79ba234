import { expect, test } from 'vitest'
import { readOtel } from './config-otel.ts'

function read(env: Readonly<Record<string, string>>) {
  const faults: string[] = []
  const settings = readOtel(env, (name, sentence) => void faults.push(`${name} ${sentence}`))
  return { settings, faults }
}

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/' }

test('there are no traces unless an exporter or an endpoint is named', () => {
  expect(read({}).settings).toBeNull()
  expect(read({ OTEL_SERVICE_NAME: 'x', OTEL_TRACES_SAMPLER: 'always_on' }).settings).toBeNull()
  expect(read({ ...endpoint, OTEL_SDK_DISABLED: 'TRUE' }).settings).toBeNull()
  expect(read({ ...endpoint, OTEL_TRACES_EXPORTER: 'none' }).settings).toBeNull()
  expect(read({ OTEL_TRACES_EXPORTER: 'otlp' }).settings).toMatchObject({
    url: 'http://localhost:4318/v1/traces',
  })
})

test('variables of traces alone count before those of all signals, and their endpoint is the whole address', () => {
  expect(read(endpoint).settings?.url).toBe('http://collector:4318/v1/traces')
  const both = {
    ...endpoint,
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://traces/x',
    OTEL_EXPORTER_OTLP_TIMEOUT: '3',
    OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: '5',
    OTEL_EXPORTER_OTLP_HEADERS: 'a=1,b=x%3Dy',
    OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'a=2',
  }
  expect(read(both)).toMatchObject({
    settings: { url: 'https://traces/x', timeoutMs: 5, headers: { a: '2', b: 'x=y' } },
    faults: [],
  })
})

test('the resource has the name of the service, and what else is said', () => {
  const named = { ...endpoint, OTEL_RESOURCE_ATTRIBUTES: 'service.name=a,zone=b%20c' }
  expect(read(named).settings?.resource).toEqual({ 'service.name': 'a', zone: 'b c' })
  expect(read({ ...named, OTEL_SERVICE_NAME: 'd' }).settings?.resource['service.name']).toBe('d')
  expect(read(endpoint).settings?.resource).toEqual({ 'service.name': 'fairlead' })
})

test('samplers follow the caller of a request, or not, and record a part', () => {
  const sampler = (name: string, arg = '') =>
    read({ ...endpoint, OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: arg }).settings
  expect(read(endpoint).settings).toMatchObject({ ratio: 1, followsParent: true })
  expect(sampler('always_off')).toMatchObject({ ratio: 0, followsParent: false })
  expect(sampler('parentbased_traceidratio', '0.25')).toMatchObject({ ratio: 0.25, followsParent: true })
})

test('what cannot be followed is a fault that names its variable, and repeats no value: it may be a secret', () => {
  const wrong = {
    OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318',
    OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
    OTEL_EXPORTER_OTLP_HEADERS: 'a-secret-without-a-name',
    OTEL_EXPORTER_OTLP_TIMEOUT: 'long',
    OTEL_TRACES_EXPORTER: 'jaeger',
    OTEL_TRACES_SAMPLER: 'sometimes',
  }
  const { faults } = read(wrong)
  expect(faults.map((fault) => fault.split(' ')[0]).toSorted()).toEqual(Object.keys(wrong).toSorted())
  expect(faults.join()).not.toContain('a-secret-without-a-name')
})
