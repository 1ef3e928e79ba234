import type { Action } from '@fairlead/api'
import { useState } from 'react'
import { Card } from '../../parts/page.tsx'
import { plural } from '../../words/format.ts'
import { LaneRow } from './lane-row.tsx'
import { LaneView } from './lane-view.tsx'

/** More groups get one line each. */
const MOST_IN_FULL = 8

/** Past, present and future steps of each group. The groups keep their order. */
export function Lanes({ action }: { readonly action: Action }) {
  const [isOpenOnly, showOpenOnly] = useState(false)
  const { lanes = [], certificates } = action
  const told = action.waiting?.why
  const isLong = lanes.length > MOST_IN_FULL
  const shown = isOpenOnly ? lanes.filter(({ state }) => state !== 'done') : lanes
  return (
    <Card
      title={lanes.length === 1 ? 'Steps' : plural(lanes.length, 'group')}
      beside={
        isLong && (
          <label className="check">
            <input
              type="checkbox"
              checked={isOpenOnly}
              onChange={(event) => showOpenOnly(event.target.checked)}
            />{' '}
            Not done only
          </label>
        )
      }
    >
      <ol className={isLong ? 'lane-rows' : 'lanes'}>
        {shown.map((lane) => {
          const own = certificates.filter(({ group }) => group === lane.group)
          const Shape = isLong ? LaneRow : LaneView
          return (
            <Shape key={lane.group} {...{ lane, certificates: own, told }} isAlone={lanes.length === 1} />
          )
        })}
      </ol>
    </Card>
  )
}
