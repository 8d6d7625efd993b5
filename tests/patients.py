"""The columns of the patients of ``make_patients``, for job files."""

ATTRIBUTES = """\
source: {path: patients.csv}
attributes:
  name:       {role: identifier}
  birthday:   {role: quasi-identifier, type: date, hierarchy: {dates: [year, decade, "*"]}}
  zip:        {role: quasi-identifier, hierarchy: {mask: right}}
  sex:        {role: quasi-identifier, hierarchy: suppress}
  diagnosis:  {role: sensitive}
  occupation: {role: sensitive}
  income:     {role: ROLE, type: integer}
  ward:       {role: insensitive}
"""
