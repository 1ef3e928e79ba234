import { expect, test } from 'vitest'
import { hintOf } from './describe-target.ts'

const target = { recommended: true }
const hole = (reach: 'code' | 'crash' | 'other') => ({ id: 'CVE-1', what: '', reach })

test('a build with known holes says so, and with harmful ones it is at most the least bad', () => {
  expect(hintOf({ ...target, known_holes: [] })).toEqual({ praise: 'recommended', holes: '', tone: 'quiet' })
  expect(hintOf({ ...target, known_holes: [hole('other'), hole('crash')] })).toEqual({
    holes: '2 known holes: clients can end the engine',
    tone: 'wait',
    praise: expect.stringMatching(/^least bad: /),
  })
  expect(hintOf({ ...target, recommended: false, known_holes: [hole('code')] })).toEqual({
    praise: '',
    holes: '1 known hole: clients can run code',
    tone: 'bad',
  })
  expect(hintOf({ ...target, known_holes: [hole('other')] }).tone).toBe('quiet')
})
