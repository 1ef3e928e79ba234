import { expect, test } from 'vitest'
import { changedSettings } from './changed-settings.ts'

test('only what was changed is sent, and a switch that was turned off is', () => {
  const settings = [
    { name: 'length', label: '', value: 8 },
    { name: 'days', label: '', value: 0 },
    { name: 'complex', label: '', value: true },
    { name: 'basic', label: '', value: true },
  ]
  const form = new FormData()
  form.append('length', '12')
  form.append('days', '0')
  form.append('basic', 'on')
  expect(changedSettings(form, settings)).toEqual({ length: 12, complex: false })
})
