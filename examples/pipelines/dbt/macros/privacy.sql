{# Generic tests of a model as a whole. They return the sizes of classes that fail, never a cell. #}

{% test k_anonymous(model, quasi_identifiers, k) %}
select count(*) as members
from {{ model }}
group by {{ quasi_identifiers | join(', ') }}
having count(*) < {{ k }}
{% endtest %}

{# A missing value counts as one value, as in `discreet check`. #}
{% test l_diverse(model, column_name, quasi_identifiers, l) %}
select count(*) as members
from {{ model }}
group by {{ quasi_identifiers | join(', ') }}
having count(distinct {{ column_name }})
    + max(case when {{ column_name }} is null then 1 else 0 end) < {{ l }}
{% endtest %}
