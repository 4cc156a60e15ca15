import { NumberInput, SegmentedControl, Select, Switch, Text, TextInput, Tooltip } from '@mantine/core'
import type { Setting } from '../api/shapes'
import { LadderField } from './LadderField'
import { upper } from './settings'

interface Props {
  setting: Setting
  /** null: back to what lies below */
  value: unknown
  /** what holds when nothing is entered */
  placeholder: string
  onChange: (value: unknown) => void
  disabled?: boolean
  error?: string
  /** whether the label stands above the field; else it is only spoken */
  labelled?: boolean
  /** of a ladder: what each rung would have done so far */
  wouldHave?: Record<string, string>
}

/** SettingField edits one setting as its declaration says, which also helps who
 *  points at it or is in it. */
export function SettingField(props: Props) {
  if (props.setting.type === 'ladder') return <Control {...props} /> // each rung says what it does
  return (
    <Tooltip label={props.setting.help} multiline w={280} withArrow position="top-end" openDelay={300} events={{ hover: true, focus: true, touch: true }}>
      <div>
        <Control {...props} />
      </div>
    </Tooltip>
  )
}

function Control({ setting, value, placeholder, onChange, disabled, error, labelled, wouldHave }: Props) {
  const name = labelled ? { label: setting.label } : { 'aria-label': setting.label }
  switch (setting.type) {
    case 'boolean':
      return <Switch {...name} checked={value === true} onChange={(e) => onChange(e.currentTarget.checked)} disabled={disabled} />
    case 'choice':
      return <Choice name={name} setting={setting} value={String(value)} onChange={onChange} disabled={disabled} />
    case 'ladder':
      return <LadderField setting={setting} value={value} onChange={onChange} disabled={disabled} wouldHave={wouldHave} />
    case 'text':
      return (
        <TextInput {...name} value={String(value ?? '')} placeholder={placeholder} onChange={(e) => onChange(e.currentTarget.value || null)} disabled={disabled} error={error} />
      )
  }
  const dollars = setting.type === 'money'
  const whole = setting.type === 'integer'
  return (
    <NumberInput
      {...name}
      w={labelled ? undefined : 132}
      value={typeof value === 'number' ? value : ''}
      placeholder={placeholder}
      onChange={(v) => onChange(typeof v === 'number' ? v : null)}
      min={setting.minimum ?? setting.above}
      max={setting.maximum}
      allowDecimal={!whole}
      decimalScale={whole ? 0 : 2}
      prefix={dollars ? '$' : undefined}
      thousandSeparator=","
      disabled={disabled}
      error={error}
      hideControls
      rightSectionWidth={setting.unit ? 52 : undefined}
      rightSection={
        setting.unit && (
          <Text size="xs" c="dimmed">
            {setting.unit}
          </Text>
        )
      }
    />
  )
}

interface ChoiceProps extends Pick<Props, 'setting' | 'onChange' | 'disabled'> {
  name: object
  value: string
}

function Choice({ name, setting, value, onChange, disabled }: ChoiceProps) {
  const data = (setting.choices ?? []).map((word) => ({ value: word, label: upper(word) }))
  if (data.length > 2) {
    return <Select {...name} w={132} allowDeselect={false} data={data} value={value} onChange={(v) => v && onChange(v)} disabled={disabled} />
  }
  return <SegmentedControl {...name} aria-label={setting.label} size="xs" value={value} onChange={onChange} disabled={disabled} data={data} />
}
