import { errors, operations } from '@fairlead/api'
import { expect, test } from 'vitest'
import { startControlPlane } from '../../control-plane.ts'

test('the document lists every operation, and every error it may answer with, without a login', async () => {
  await using fairlead = await startControlPlane()
  const { body } = await fairlead.send('GET', '/openapi.json')
  const paths = body['paths'] as Record<string, Record<string, { operationId: string }>>
  const listed = Object.values(paths).flatMap((path) =>
    Object.values(path).map(({ operationId }) => operationId),
  )
  expect(listed.toSorted()).toEqual(Object.keys(operations).toSorted())
  for (const code of Object.keys(errors)) expect(JSON.stringify(body)).toContain(code)
})
