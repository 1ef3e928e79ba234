import type { Action, ActionEvent } from '@fairlead/api'
import { expect, test } from 'vitest'
import { tellLines } from './tell-progress.ts'

test('an upgrade that waits for a person names the command with which it goes on', () => {
  let said = ''
  const terminal = { say: (text: string) => (said += text) } as unknown as Parameters<
    typeof tellLines
  >[0]['terminal']
  using progress = tellLines({ terminal }, 'orders')
  const tell = (phase: Action['phase'], why: string) =>
    progress.onEvent(
      { phase, outcome: null, waiting: { why }, error: null } as unknown as Action,
      { type: 'action', time: '2026-11-29T12:00:00.000Z' } as ActionEvent,
    )
  tell('preparing', 'a shard starts')
  expect(said).not.toContain('next:')
  tell('ready', 'it is supervised')
  expect(said).toContain('it is supervised; next: fairlead actions resume orders\n')
})
