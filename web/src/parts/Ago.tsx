import { useSyncExternalStore } from 'react'
import { ago } from '../format/time'
import { onTick } from './useNow'

/** Ago is how long ago something was. It alone is drawn anew as time goes by,
 *  and only when its words change: a row or page around it is not. */
export function Ago({ time }: { time: string }) {
  return useSyncExternalStore(onTick, () => ago(time))
}
